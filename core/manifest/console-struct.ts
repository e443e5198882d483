import { array, literal, object, string } from 'superstruct';
import { described, named, optionally } from '../contract/described.js';
import { capability, moduleName } from '../descriptor/identifiers.js';
import { nonEmptyText, wholeNumber } from '../document/structs.js';
import { label, nameOfA, text } from './parts-struct.js';

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
  input: nameOfA('input field'),
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
          name: nameOfA('action'),
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
