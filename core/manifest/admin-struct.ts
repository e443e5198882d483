import { array, enums, object } from 'superstruct';
import { described, named, optionally } from '../contract/described.js';
import { capability } from '../descriptor/identifiers.js';
import { nonEmptyText } from '../document/structs.js';
import { fieldType, flag, label, nameOfA, plainPath, text } from './parts-struct.js';

const entityField = object({
  name: nameOfA('field'),
  label,
  type: fieldType,
  nullable: flag('Whether the value may be null.'),
});

const entity = named(
  'entity',
  described(
    object({
      name: nameOfA('entity'),
      label,
      description: text('What the rows are, in CommonMark.'),
      read_capability: described(capability, { description: 'What an actor needs to read it.' }),
      list_path: optionally(plainPath, {
        description: 'Target of GET for the kinds that use HTTP, called with ?limit=&cursor=.',
      }),
      fields: optionally(array(entityField), {
        default: [],
        description: 'The columns of a row.',
      }),
    }),
    { description: 'Rows that a console can list.' },
  ),
);

const actionInputField = object({
  name: nameOfA('field'),
  label,
  type: fieldType,
  required: flag('Whether the input must have it.'),
  nullable: flag('Whether the value may be null.'),
});

const action = named(
  'action',
  described(
    object({
      name: nameOfA('action'),
      label,
      description: text('What the action does, in CommonMark.'),
      capability: described(capability, { description: 'What an actor needs to invoke it.' }),
      invoke_path: optionally(plainPath, {
        description: 'Target of POST for the kinds that use HTTP.',
      }),
      danger_level: optionally(enums(['low', 'medium', 'high']), {
        description: 'How a console marks the action.',
      }),
      confirmation: optionally(
        object({
          message: described(nonEmptyText(), { description: 'The question.' }),
          required_phrase: optionally(nonEmptyText(), {
            description: 'What the user has to type.',
          }),
        }),
        { description: 'What a console asks before it invokes the action.' },
      ),
      input_schema: optionally(
        object({
          fields: described(array(actionInputField), { description: 'The fields of the input.' }),
        }),
        { description: 'The input of the action.' },
      ),
    }),
    { description: 'What a console can invoke.' },
  ),
);

export const admin = object({
  entities: optionally(array(entity), { default: [], description: 'Data that a console lists.' }),
  actions: optionally(array(action), { default: [], description: 'What a console can invoke.' }),
});
