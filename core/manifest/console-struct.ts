import { array, literal, object, string } from 'superstruct';
import { described, named, optionally } from '../contract/described.js';
import { wholeNumber } from '../contract/whole-number.js';
import { capability, moduleName } from '../descriptor/identifiers.js';
import { nonEmptyText } from '../document/structs.js';
import {
  dangerLevel,
  fieldType,
  flag,
  label,
  plainPath,
  requiredName,
  text,
} from './parts-struct.js';

export const slot = named(
  'slot',
  described(
    object({
      id: described(nonEmptyText(), { description: 'Id that contributions name.' }),
      version: described(wholeNumber(0), { description: 'Version of its context.' }),
      label,
    }),
    { description: "A place in the module's console pages that others may contribute to." },
  ),
);

const inputBinding = object({
  input: requiredName('input field'),
  value: described(
    object({
      kind: described(literal('slot_context'), { description: 'Where the value comes from.' }),
      path: described(nonEmptyText(), { description: 'Dotted path within the context.' }),
    }),
    { description: 'The value of the field.' },
  ),
});

export const contribution = named(
  'contribution',
  described(
    object({
      target: described(nonEmptyText(), { description: 'Id of a slot.' }),
      target_version: optionally(wholeNumber(0), {
        description: 'Version that the slot must have. Default: any.',
      }),
      label: described(string(), { description: 'Text that a console shows.' }),
      icon: text("The console's name of an icon."),
      required_capabilities: optionally(array(capability), {
        default: [],
        description: 'What an actor needs to see it.',
      }),
      action: described(
        object({
          kind: described(literal('admin_action'), { description: 'Kind of the action.' }),
          module: described(moduleName, { description: 'module_id of the module of the action.' }),
          name: requiredName('action'),
          input_bindings: optionally(array(inputBinding), {
            default: [],
            description: 'Input fields that are taken from the context of the slot.',
          }),
        }),
        { description: 'What it invokes.' },
      ),
    }),
    { description: 'An action that the module adds to a slot.' },
  ),
);

const entityField = object({
  name: requiredName('field'),
  label,
  type: fieldType,
  nullable: flag('Whether the value may be null.'),
});

const entity = named(
  'entity',
  described(
    object({
      name: requiredName('entity'),
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
  name: requiredName('field'),
  label,
  type: fieldType,
  required: flag('Whether the input must have it.'),
  nullable: flag('Whether the value may be null.'),
});

const action = named(
  'action',
  described(
    object({
      name: requiredName('action'),
      label,
      description: text('What the action does, in CommonMark.'),
      capability: described(capability, { description: 'What an actor needs to invoke it.' }),
      invoke_path: optionally(plainPath, {
        description: 'Target of POST for the kinds that use HTTP.',
      }),
      danger_level: optionally(dangerLevel, {
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
