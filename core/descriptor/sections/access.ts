import { array, boolean, define, enums, refine } from 'superstruct';
import { described, optionally, withDefault } from '../../contract/described.js';
import { ACTOR_KINDS, type ActorKind } from '../../contract/index.js';
import type { Violation } from '../../document/diagnostic.js';
import { parseRange, RANGE_EXPECTED } from '../../lib/address-list.js';
import { ANY_CHANGE, defineSection } from '../section.js';
import { mapping } from '../struct-members.js';

/** Also applies to unknown modules, so that a caller does not learn which modules exist. */
export const DEFAULT_CALLERS: ActorKind[] = ['service', 'system'];

const kinds = described(
  refine(
    array(enums(ACTOR_KINDS)),
    'a list of distinct kinds of actors, at least one',
    (listed) => listed.length > 0 && new Set(listed).size === listed.length,
  ),
  { minItems: 1, uniqueItems: true },
);

export const callers = defineSection({
  struct: withDefault(kinds, DEFAULT_CALLERS, {
    description:
      'The kinds of actors that may call the routes of the module. The list is exact; a user with the scope console.admin always may.',
  }),
  isFreeChange: (after, before) => after.every((kind) => before.includes(kind)),
});

const MAX_RANGES = 1000;

/** A rule rejects a range with bits after its prefix; its hint contains the corrected range. */
const addressRange = described(
  define<string>(RANGE_EXPECTED, (value) => {
    const range = typeof value === 'string' ? parseRange(value) : null;
    return range !== null && !('reason' in range && range.meant === null);
  }),
  { type: 'string' },
);

const clients = mapping('allow', 'Who may call the module. Without it, clients of every address.', {
  addresses: described(
    refine(
      array(addressRange),
      `a list of 1 to ${MAX_RANGES} addresses and ranges`,
      ({ length }) => length > 0 && length <= MAX_RANGES,
    ),
    {
      minItems: 1,
      maxItems: MAX_RANGES,
      description: 'Addresses and ranges such as 10.0.0.0/8; any other client is 403.',
    },
  ),
});

export const allow = defineSection({
  struct: optionally(clients, {}),
  validate: ({ addresses = [] }) => addresses.flatMap(validateRange),
  shown: { of: 'file', read: (value) => value },
  isFreeChange: ANY_CHANGE,
});

function validateRange(text: string, index: number): Violation[] {
  const range = parseRange(text);
  if (!('reason' in range)) return [];
  const path = ['allow', 'addresses', index];
  const message = `'allow.addresses[${index}]' ${range.reason}`;
  return [{ rule: 'address-range', message, hint: `write ${range.meant}`, path, at: 'value' }];
}

export const publicRoutes = defineSection({
  struct: withDefault(boolean(), false, {
    description:
      'Whether routes with `access: public` in the manifest may be called without credentials.',
  }),
  shown: { of: 'file', read: (value) => value },
});
