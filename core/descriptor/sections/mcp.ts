import { isDeepStrictEqual } from 'node:util';
import { array, enums, type Infer, refine } from 'superstruct';
import { described, filledIn, optionally, withDefault } from '../../contract/described.js';
import { nonEmptyText } from '../../document/structs.js';
import { defineSection } from '../section.js';
import { bytes, mapping } from '../struct-members.js';

const MAX_OPERATIONS = 1000;

const operationIds = described(
  refine(
    array(nonEmptyText()),
    `a list of 1 to ${MAX_OPERATIONS} distinct names of operations`,
    (names) =>
      names.length > 0 && names.length <= MAX_OPERATIONS && new Set(names).size === names.length,
  ),
  { minItems: 1, maxItems: MAX_OPERATIONS, uniqueItems: true },
);

const members = mapping('mcp', 'What agents may call through the surface mcp.', {
  expose: withDefault(enums(['none', 'read', 'all']), 'none', {
    description: 'read: GET routes and entities; all: other routes and actions too.',
  }),
  only: optionally(operationIds, {
    description:
      'Operations to which that is narrowed: ids of routes, entity:NAME and action:NAME. Default: all of them.',
  }),
  approve: withDefault(enums(['never', 'danger', 'always']), 'danger', {
    description:
      'Which calls wait for the approval of a person: danger are those whose danger_level is medium or high.',
  }),
  result_bytes: bytes(102_400, [1024, 4_194_304], 'Longest result that an agent gets.'),
});

type Mcp = Infer<typeof members>;

const EXPOSED: Readonly<Record<Mcp['expose'], number>> = { none: 0, read: 1, all: 2 };
const UNAPPROVED: Readonly<Record<Mcp['approve'], number>> = { always: 0, danger: 1, never: 2 };

export const mcp = defineSection({
  struct: filledIn(members),
  isFreeChange: (
    { expose, approve, only, result_bytes, ...others },
    { expose: exposed, approve: approved, only: named, result_bytes: before, ...otherBefore },
  ) =>
    result_bytes <= before &&
    EXPOSED[expose] <= EXPOSED[exposed] &&
    UNAPPROVED[approve] <= UNAPPROVED[approved] &&
    (named === undefined || only?.every((id) => named.includes(id)) === true) &&
    isDeepStrictEqual(others, otherBefore),
});
