import { canBeSegment, isDotSegment } from './path-segment.js';

export type TemplateSegment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'rest'; readonly name: string };

export interface RouteTemplate {
  /** As declared: `/contacts/{id}`. */
  readonly text: string;
  readonly segments: readonly TemplateSegment[];
}

/** Thrown by {@link parseRouteTemplate}; the message continues `route '<template>' `. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

const PARAM = /^\{([A-Za-z0-9_-]+)(\.\.\.)?\}$/;
/**
 * Parses `/literal/{param}/{rest...}`, or `/` alone, which has no segment.
 * @throws TemplateError for an invalid template.
 */
export function parseRouteTemplate(text: string): RouteTemplate {
  if (!text.startsWith('/')) throw new TemplateError('must start with a slash');
  if (text === '/') return { text, segments: [] };
  const parts = text.slice(1).split('/');
  const names = new Set<string>();
  const segments = parts.map((part, index) => {
    const segment = parseSegment(part, index === parts.length - 1);
    if (segment.kind === 'literal') return segment;
    if (names.has(segment.name)) {
      throw new TemplateError(`has two parameters named '${segment.name}'`);
    }
    names.add(segment.name);
    return segment;
  });
  return { text, segments };
}

function parseSegment(part: string, isLast: boolean): TemplateSegment {
  if (part === '') {
    throw new TemplateError(isLast ? 'must not end with a slash' : 'has an empty segment');
  }
  const match = PARAM.exec(part);
  if (match?.[1] !== undefined) {
    if (match[2] === undefined) return { kind: 'param', name: match[1] };
    if (!isLast) throw new TemplateError(`has '${part}' before its last segment`);
    return { kind: 'rest', name: match[1] };
  }
  return parseLiteral(part);
}

function parseLiteral(part: string): TemplateSegment {
  const opens = part.includes('{');
  const closes = part.includes('}');
  if (opens && !closes) throw new TemplateError('has an unclosed parameter');
  if (opens || closes) {
    throw new TemplateError(`has a segment that is neither a literal nor a parameter: '${part}'`);
  }
  if (isDotSegment(part)) {
    throw new TemplateError(`has a segment '${part}', which no request can match`);
  }
  if (!canBeSegment(part)) throw new TemplateError('has a literal that no request can match');
  return { kind: 'literal', text: part };
}

/** Two templates with one shape match the same requests: parameters by position, not by name. */
export function templateShape(template: RouteTemplate): string {
  return template.segments
    .map((segment) => {
      if (segment.kind === 'literal') return `/=${segment.text}`;
      return segment.kind === 'param' ? '/{}' : '/{...}';
    })
    .join('');
}
