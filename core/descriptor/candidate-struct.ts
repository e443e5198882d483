import { array, boolean, enums, refine, size, unknown } from 'superstruct';
import { described, withDefault } from '../contract/described.js';
import { matching } from '../document/structs.js';
import { amount, count, section } from './struct-members.js';

/** The same maximum as in the adapters whose config has endpoints. */
const MAX_CANDIDATE_ENDPOINTS = 64;
const CANDIDATE_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const MAX_IGNORED = 64;
const IGNORED_POINTER = /^\/(?:[^~]|~[01]){0,199}$/;

const candidateMethods = described(
  refine(
    array(enums(CANDIDATE_METHODS)),
    'a list of distinct methods, at least one',
    (methods) => methods.length > 0 && new Set(methods).size === methods.length,
  ),
  { minItems: 1, uniqueItems: true },
);

const ignoredPlaces = described(
  size(
    array(matching('a JSON Pointer that starts with /, in which * is one step', IGNORED_POINTER)),
    0,
    MAX_IGNORED,
  ),
  { maxItems: MAX_IGNORED },
);

/** `candidate` of a descriptor. */
export const candidate = section(
  'candidate',
  'Another version of the provider, which gets copies of answered calls; nobody gets its answers.',
  {
    endpoints: described(size(array(unknown()), 1, MAX_CANDIDATE_ENDPOINTS), {
      minItems: 1,
      maxItems: MAX_CANDIDATE_ENDPOINTS,
      description:
        'Where it is reached, as endpoints of provider.config; everything else is as there.',
    }),
    share: amount(0.01, [0, 1], 'Share of the calls that are made again there, 0 to 1.'),
    methods: withDefault(candidateMethods, ['GET'], {
      description: 'Calls with these methods of the caller are copied.',
    }),
    ignore: withDefault(ignoredPlaces, [], {
      description:
        'What may differ: JSON Pointers in which * stands for one step, such as /items/*/updated_at.',
    }),
    baseline: withDefault(boolean(), false, {
      description:
        'Whether copies of GET and HEAD are also made at the live provider: what differs between its own two answers does not count.',
    }),
    concurrency: count(16, [1, 1000], 'Copies at the same time; one more is dropped.'),
  },
);
