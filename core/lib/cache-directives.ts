import { TOKEN } from './token.js';

/** A directive of `cache-control`. */
export interface CacheDirective {
  /** In lower case. */
  readonly name: string;
  /** As received: `max-age=60`. */
  readonly text: string;
}

/** A directive without a comma in its value (RFC 9111, 5.2). */
const DIRECTIVE = new RegExp(`^(${TOKEN})(?:=(?:${TOKEN}|"[^",]*"))?$`);

/**
 * Returns `null` for a value that recipients read differently, such as `private; max-age=60` or one
 * with a comma in quotes. No cache may keep the response.
 */
export function parseCacheDirectives(cacheControl: string): CacheDirective[] | null {
  const directives: CacheDirective[] = [];
  for (const part of cacheControl.split(',')) {
    const text = part.trim();
    if (text === '') continue;
    const name = DIRECTIVE.exec(text)?.[1]?.toLowerCase();
    if (name === undefined) return null;
    directives.push({ name, text });
  }
  return directives;
}
