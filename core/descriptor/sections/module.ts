import { boolean } from 'superstruct';
import { described, withDefault } from '../../contract/described.js';
import { moduleName } from '../identifiers.js';
import { ANY_CHANGE, defineSection } from '../section.js';

export const module = defineSection({
  struct: described(moduleName, {
    description: 'Name in the path of every call: /modules/{module}/http/…',
  }),
});

export const enabled = defineSection({
  struct: withDefault(boolean(), true, {
    description: 'false keeps the file, but the module answers 404.',
  }),
  isFreeChange: ANY_CHANGE,
});
