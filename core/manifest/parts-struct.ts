import { boolean, define, enums, string } from 'superstruct';
import { described, named, optionally } from '../contract/described.js';
import { DANGER_LEVELS, type SchemaObject } from '../contract/index.js';
import { nonEmptyText } from '../document/structs.js';
import { isMapping } from '../lib/read-member.js';
import { isPlainPath } from '../lib/routing/path-segment.js';

/** A path of the provider that the host calls unchanged. */
export const plainPath = named(
  'plainPath',
  described(
    define<string>(
      'a plain absolute path, such as /admin/contacts',
      (value) => typeof value === 'string' && isPlainPath(value),
    ),
    {
      type: 'string',
      pattern:
        "^(?!.*//)(?!.*/(?:\\.|%2[eE]){1,2}(?:;[^/]*)?(?:/|$))/(?:[!$&'()*+,\\-.0-9:;=@A-Z\\[\\]_a-z~/]|%[0-9A-Fa-f]{2})*$",
      description: 'A plain absolute path: no query, no fragment, no dot segment.',
    },
  ),
);

export const fieldType = described(
  enums(['string', 'integer', 'number', 'boolean', 'timestamp', 'json']),
  { description: 'Type of the value.' },
);

export function requiredName(subject: string) {
  return described(nonEmptyText(), { description: `Name of the ${subject}.` });
}

/** Human-readable text. */
export function text(description: string) {
  return optionally(string(), { description });
}

export const label = text('Text that a console shows.');

export function flag(description: string) {
  return optionally(boolean(), { default: false, description });
}

export const anySchema = described(
  define<SchemaObject | boolean>(
    'a JSON Schema (a mapping)',
    (value) => typeof value === 'boolean' || isMapping(value),
  ),
  { type: ['object', 'boolean'] },
);

export const dangerLevel = enums(DANGER_LEVELS);
