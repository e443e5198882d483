import { enums } from 'superstruct';
import { withDefault } from '../../contract/described.js';
import { defineSection } from '../section.js';

export const cache = defineSection({
  struct: withDefault(enums(['on', 'off']), 'on', {
    description: 'off keeps no responses, whatever the manifest says.',
  }),
  isFreeChange: (after, before) => after === 'off' || after === before,
});
