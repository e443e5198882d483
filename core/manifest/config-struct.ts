import { any, array, dynamic, enums, literal, object, string } from 'superstruct';
import { type AnyStruct, described, named, optionally, when } from '../contract/described.js';
import type { ConfigType } from '../contract/index.js';
import { wholeNumber } from '../contract/whole-number.js';
import { capability } from '../descriptor/identifiers.js';
import { anyWholeNumber, finiteNumber } from '../document/structs.js';
import { flag, plainPath, requiredName, text } from './parts-struct.js';

/** Longer than any key in use. */
const MAX_GENERATED_BYTES = 1024;

const LEAST = { description: 'Smallest value.' };
const MOST = { description: 'Largest value.' };

const TYPES: Readonly<Record<ConfigType['kind'], AnyStruct>> = {
  bool: object({ kind: kind('bool') }),
  int: object({
    kind: kind('int'),
    min: optionally(anyWholeNumber(), LEAST),
    max: optionally(anyWholeNumber(), MOST),
  }),
  float: object({
    kind: kind('float'),
    min: optionally(finiteNumber(), LEAST),
    max: optionally(finiteNumber(), MOST),
  }),
  string: object({ kind: kind('string') }),
  enum: object({
    kind: kind('enum'),
    values: described(array(string()), { description: 'The allowed values.' }),
  }),
  json: object({ kind: kind('json') }),
};

const KINDS = Object.keys(TYPES) as ConfigType['kind'][];

const unknownType = object({
  kind: enums(KINDS),
  min: optionally(any(), {}),
  max: optionally(any(), {}),
  values: optionally(any(), {}),
});

/** The struct is dynamic, because a union could not report which key of the type is wrong. */
const type = named(
  'configType',
  described(
    dynamic<ConfigType>((value): AnyStruct => {
      const kind = KINDS.find((name) => (value as { kind?: unknown } | null)?.kind === name);
      return kind === undefined ? unknownType : TYPES[kind];
    }),
    {
      type: 'object',
      description: 'Type of the value.',
      required: ['kind'],
      properties: { kind: { enum: KINDS, description: 'Kind of the value.' } },
      allOf: KINDS.map((kind) => when({ properties: { kind: { const: kind } } }, TYPES[kind])),
    },
  ),
);

const field = named(
  'configField',
  described(
    object({
      service: requiredName('service that the value is for'),
      key: requiredName('value within its service'),
      type,
      default: optionally(any(), { description: 'The value until another one is written.' }),
      editable: flag('Whether a console may write it.'),
      restart_only: flag('The provider gets a change only when the module is opened again.'),
      sensitive: flag('Never shown; a console gets null.'),
      description: text('Text that a console shows.'),
      generated: optionally(
        object({
          bytes: described(wholeNumber(1, MAX_GENERATED_BYTES), {
            description: 'Length before it is written as hex. Bytes.',
          }),
        }),
        {
          description:
            'A secret that is generated once at random, as hex. The field has no default and is not editable.',
        },
      ),
    }),
    { description: 'A value that operators set and the provider gets.' },
  ),
);

export const config = object({
  read_capability: optionally(capability, {
    description: 'What an actor needs to read the values; sensitive ones are never shown.',
  }),
  write_capability: optionally(capability, {
    description:
      'What an actor needs to write values; it reads them too. Without it, no console writes any.',
  }),
  fields: optionally(array(field), { default: [], description: 'What operators can set.' }),
  delivery_path: optionally(plainPath, {
    description: 'Target of PUT for the effective values, after each change and at start.',
  }),
});

function kind<Kind extends ConfigType['kind']>(value: Kind) {
  return described(literal(value), { description: 'Kind of the value.' });
}
