import { array, boolean, dynamic, enums, refine, size, string, type, unknown } from 'superstruct';
import {
  type AnyStruct,
  described,
  matching,
  optionally,
  when,
  withDefault,
} from '../../contract/described.js';
import type { Violation } from '../../document/diagnostic.js';
import { isMapping } from '../../lib/read-member.js';
import { type DescribedProviders, defineSection } from '../section.js';
import { amount, count, mapping } from '../struct-members.js';
import { candidateProvider } from './candidate-provider.js';

/** The same maximum as in the adapters whose config has endpoints. */
const MAX_CANDIDATE_ENDPOINTS = 64;
const CANDIDATE_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const MAX_IGNORED = 64;
const IGNORED_POINTER = /^\/(?:[^~]|~[01]){0,199}$/;

const list = described(size(array(unknown()), 1, MAX_CANDIDATE_ENDPOINTS), {
  minItems: 1,
  maxItems: MAX_CANDIDATE_ENDPOINTS,
});
const listFile = type({ file: string() });

/** The adapter defines the form of each entry, and of a file. */
const candidateEndpoints = described(
  dynamic<readonly unknown[] | { readonly file: string }>((value): AnyStruct => {
    return isMapping(value) ? listFile : list;
  }),
  {
    ...when({ type: 'object' }, listFile, list),
    description:
      'Endpoints of the candidate, in the forms of endpoints of provider.config; its other settings apply as they are.',
  },
);

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

const members = mapping(
  'candidate',
  'Another version of the provider, which gets copies of answered calls; no caller gets its answers.',
  {
    endpoints: candidateEndpoints,
    share: amount(0.01, [0, 1], 'Share of the answered calls that are copied, 0 to 1.'),
    methods: withDefault(candidateMethods, ['GET'], {
      description: 'Calls with these methods of the caller are copied.',
    }),
    ignore: withDefault(ignoredPlaces, [], {
      description:
        'Places that may differ: JSON Pointers in which * stands for one step, such as /items/*/updated_at.',
    }),
    baseline: withDefault(boolean(), false, {
      description:
        'Whether copied GET and HEAD calls are also repeated at the live provider: differences between its own two answers are not counted.',
    }),
    concurrency: count(
      16,
      [1, 1000],
      'Copies that run at the same time; any further one is dropped.',
    ),
  },
);

export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Another version of the provider, which gets copies of answered calls. */
export const candidate = defineSection({
  struct: optionally(members, {}),
  warn: ({ methods }) => methods.flatMap(findEffects),
  further: candidateProvider,
  shown: {
    of: 'served',
    read: (_, { furtherProviders }: DescribedProviders) => {
      const provider = furtherProviders.find(({ section }) => section === 'candidate');
      return { origins: provider?.destinations ?? [] };
    },
  },
});

/** Warns of a method with effects, because the candidate executes each copy. */
function findEffects(method: string, index: number): Violation[] {
  if (SAFE_METHODS.has(method)) return [];
  const message = `'candidate.methods[${index}]': the candidate carries out each copied ${method} once more`;
  const hint = 'make sure that it writes to data of its own';
  const path = ['candidate', 'methods', index];
  return [{ rule: 'candidate-method', message, hint, path, at: 'value' }];
}
