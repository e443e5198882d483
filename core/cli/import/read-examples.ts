import { asObject, asText, type JsonObject } from '../json-value.js';
import { followComponent, followReference, type OpenApiDocument } from './openapi-document.js';
import { resolveExample } from './resolve-example.js';
import { LOOKS_LIKE_SCHEMA } from './schema-keywords.js';
import type { Report } from './unmapped.js';

interface NamedExample {
  readonly summary?: string;
  readonly value: unknown;
}

export type NamedExamples = ReadonlyMap<string, NamedExample>;

interface ExampleContext {
  readonly document: OpenApiDocument;
  readonly report: Report;
}

/** The name of the value of `example`. */
export const UNNAMED = 'example';

/**
 * Reads `example` and `examples` of media types or of a parameter, by their names. The first of a
 * name counts. Lists those that no manifest can hold.
 */
export function readExamples(
  owners: readonly JsonObject[],
  { document, report }: ExampleContext,
): NamedExamples {
  const found = new Map<string, NamedExample>();
  const add = (name: string, example: NamedExample) => {
    if (found.has(name)) return;
    const resolved = resolveExample(document, example.value);
    if (resolved === null) report(`example ${name}`, LOOKS_LIKE_SCHEMA);
    else found.set(name, { ...example, ...resolved });
  };
  for (const { example, examples } of owners) {
    if (example !== undefined) add(UNNAMED, { value: example });
    for (const [name, entry] of Object.entries(asObject(examples))) {
      if (name === '' || name === '__proto__') continue;
      const { value: followed, problem } = followComponent(document, entry);
      const { dataValue, value = dataValue } = followed;
      const summary = asText(followed['summary']);
      if (problem !== null) report(`example ${name}`, `it is ${problem}`);
      else if (value === undefined) report(`example ${name}`, 'the document has no value of it');
      else add(name, { ...(summary !== undefined && { summary }), value });
    }
  }
  return found;
}

/** Reads the examples of bodies of JSON. Some documents have the text of a value instead. */
export function readBodyExamples(
  mediaTypes: readonly JsonObject[],
  context: ExampleContext,
): NamedExamples {
  const examples = readExamples(mediaTypes, context);
  const mayBeText = mediaTypes.some(({ schema }) => {
    return [followReference(context.document, schema)['type']].flat().includes('string');
  });
  if (mayBeText) return examples;
  const values = [...examples].map(([name, example]) => {
    return [name, { ...example, value: parseText(example.value) }] as const;
  });
  return new Map(values);
}

function parseText(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
