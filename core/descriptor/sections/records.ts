import { boolean } from 'superstruct';
import { withDefault } from '../../contract/described.js';
import { ANY_CHANGE, defineSection } from '../section.js';
import { bytes, filledMapping } from '../struct-members.js';

export const records = defineSection({
  struct: filledMapping('records', 'What the records of calls hold.', {
    // A record holds the start of a body for debugging, not a complete copy.
    capture_bytes: bytes(0, [0, 65_536], 'How much of each body the records of calls keep.'),
    // Hashing costs as much as forwarding.
    digests: withDefault(boolean(), false, {
      description: 'Whether the records of calls have the SHA-256 of bodies of bytes.',
    }),
  }),
  isFreeChange: ANY_CHANGE,
});
