import { asObject, MAX_DEPTH } from '../json-value.js';
import { followAny, type OpenApiDocument } from './openapi-document.js';
import { looksLikeSchema } from './schema-keywords.js';

/** References may lead to the same value many times. */
const MAX_VALUES = 10_000;

/**
 * Replaces references in an example by what they lead to. An example is a value, but authors write
 * references there, and tools that join documents follow them. Returns `null` for an example that
 * validators would treat as a schema.
 */
export function resolveExample(
  document: OpenApiDocument,
  example: unknown,
): { readonly value: unknown } | null {
  const value = looksLikeSchema(example) ? replaceReferences(document, example) : example;
  return looksLikeSchema(value) ? null : { value };
}

/** References that lead nowhere stay as they are. */
function replaceReferences(document: OpenApiDocument, example: unknown): unknown {
  let values = 0;
  const resolve = (written: unknown, depth: number): unknown => {
    if (typeof written !== 'object' || written === null) return written;
    values += 1;
    if (values > MAX_VALUES || depth > MAX_DEPTH) throw new TooLarge();
    if (Array.isArray(written)) return written.map((item) => resolve(item, depth + 1));
    if (typeof asObject(written)['$ref'] === 'string') {
      const { value, problem } = followAny(document, written);
      if (problem === null) return resolve(value, depth + 1);
    }
    const members = Object.entries(written);
    return Object.fromEntries(members.map(([name, member]) => [name, resolve(member, depth + 1)]));
  };
  try {
    return resolve(example, 0);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return example;
  }
}

class TooLarge extends Error {}
