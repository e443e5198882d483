import { escapeStep } from '../../lib/json/json-pointer.js';
import { asList, asObject, asText, isObject, type JsonObject } from '../json-value.js';
import { followReference, type OpenApiDocument, parsePointer } from './openapi-document.js';
import { nameOfTarget } from './referred-documents.js';

/** An alternative of a schema, and the values of the discriminator that name it. */
interface NamedBranch {
  readonly branch: JsonObject;
  readonly values: readonly string[];
}

/**
 * Returns one condition for each alternative that the discriminator of a schema names: a value that
 * names it has to be valid there, and may be valid in others too.
 */
export function convertDiscriminator(
  document: OpenApiDocument,
  schema: JsonObject,
  convert: (branch: JsonObject) => unknown,
): JsonObject[] {
  const { discriminator, oneOf, anyOf } = schema;
  const { propertyName, mapping } = asObject(discriminator);
  const name = asText(propertyName);
  if (name === undefined || name === '__proto__' || (oneOf && anyOf) !== undefined) return [];
  const references = [...asList(oneOf), ...asList(anyOf)].filter(isReference);
  const branches = new Map(references.map((branch) => [branch['$ref'], branch]));
  const mapped = new Map<JsonObject, string[]>();
  for (const [value, target] of Object.entries(asObject(mapping))) {
    const followed = followMapping(document, target);
    mapped.set(followed, mapped.get(followed) ?? []);
    mapped.get(followed)?.push(value);
  }
  const named = [...branches.values()].map((branch): NamedBranch => {
    const target = followReference(document, branch);
    return { branch, values: mapped.get(target) ?? listOwnNames(document, branch, name) };
  });
  const counts = new Map<string, number>();
  for (const { values } of named) {
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return named.flatMap(({ branch, values }) => {
    const own = values.filter((value) => counts.get(value) === 1);
    if (own.length === 0) return [];
    const condition = { properties: { [name]: { enum: own } }, required: [name], type: 'object' };
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    return [{ if: condition, then: convert(branch) }];
  });
}

function isReference(branch: unknown): branch is JsonObject {
  return typeof asObject(branch)['$ref'] === 'string';
}

/** A mapping has the name of a component, or a reference. */
function followMapping(document: OpenApiDocument, target: unknown): JsonObject {
  if (typeof target !== 'string') return {};
  const component = followReference(document, {
    $ref: `#/components/schemas/${escapeStep(target)}`,
  });
  return Object.keys(component).length > 0
    ? component
    : followReference(document, { $ref: target });
}

/** The values that the alternative itself allows, otherwise the name of its component. */
function listOwnNames(document: OpenApiDocument, branch: JsonObject, name: string): string[] {
  const parts = new Set([followReference(document, branch)]);
  // The set grows during the loop. Cycles end, because a set contains each part once.
  for (const { properties, allOf } of parts) {
    const property = followReference(document, followReference(document, properties)[name]);
    const allowed = 'const' in property ? [property['const']] : asList(property['enum']);
    const texts = allowed.filter((value) => typeof value === 'string');
    if (texts.length > 0) return texts;
    for (const part of asList(allOf)) {
      if (isObject(part)) parts.add(followReference(document, part));
    }
  }
  const keys = parsePointer(String(branch['$ref'])) ?? [];
  return keys.length === 0 ? [] : [nameOfTarget(keys)];
}
