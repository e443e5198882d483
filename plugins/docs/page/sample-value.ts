import { type ApiDocument, asList, asObject } from './api-document.js';

/** A value to start from: the required members of an object, with the example or default of each. */
export function createSample(api: ApiDocument, schema: unknown, depth = 0): unknown {
  const followed = api.follow(schema);
  const { type, enum: values, examples, default: value } = followed;
  const [example = value] = asList(examples);
  if (example !== undefined) return example;
  if ('const' in followed) return followed['const'];
  if (Array.isArray(values)) return values[0];
  const [alternative] = [...asList(followed['anyOf']), ...asList(followed['oneOf'])];
  if (alternative !== undefined && depth < 5) return createSample(api, alternative, depth + 1);
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return '';
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'null':
      return null;
    case 'array':
      return [];
  }
  const properties = asObject(followed['properties']);
  const names = asList(followed['required']).filter((name) => typeof name === 'string');
  if (depth >= 5) return {};
  return Object.fromEntries(
    names.map((name) => [name, createSample(api, properties[name], depth + 1)]),
  );
}
