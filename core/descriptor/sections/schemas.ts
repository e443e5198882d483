import { enums } from 'superstruct';
import { withDefault } from '../../contract/described.js';
import { ANY_CHANGE, defineSection } from '../section.js';
import { filledMapping } from '../struct-members.js';

const schemaMode = enums(['enforce', 'report', 'off']);

export const schemas = defineSection({
  struct: filledMapping(
    'schemas',
    'Whether the schemas of the manifest are checked. enforce rejects, report counts, off ignores.',
    {
      input: withDefault(schemaMode, 'enforce', {
        description: 'What happens to a request that violates the schemas of its route.',
      }),
      output: withDefault(schemaMode, 'off', {
        description: 'What happens to a response that violates the schema of its route.',
      }),
    },
  ),
  isFreeChange: ANY_CHANGE,
});
