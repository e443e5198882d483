import { isDeepStrictEqual } from 'node:util';
import { array, define, enums, type Infer, record, refine } from 'superstruct';
import {
  described,
  filledIn,
  matching,
  optionally,
  withDefault,
} from '../../contract/described.js';
import { RESERVED_TOOL_NAMES } from '../../contract/host-snapshot.js';
import type { Violation } from '../../document/diagnostic.js';
import { nonEmptyText } from '../../document/structs.js';
import { defineSection, type ReadonlyDeep } from '../section.js';
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

const MAX_DESCRIPTION = 1000;
/** Generated names of other tools can end like this, so a name in a descriptor may not. */
const HASHED = /_[0-9a-f]{16}$/i;

const tool = mapping('tool', 'What agents see of an operation.', {
  name: optionally(
    matching('a name of 1 to 48 characters of A-Z a-z 0-9 _ -', /^[A-Za-z0-9_-]{1,48}$/),
    { description: 'The whole name of its tool. Default: made of the module and the operation.' },
  ),
  description: optionally(
    described(
      define<string>(`a text of 1 to ${MAX_DESCRIPTION} characters`, (value) => {
        return typeof value === 'string' && value !== '' && [...value].length <= MAX_DESCRIPTION;
      }),
      { type: 'string', minLength: 1, maxLength: MAX_DESCRIPTION },
    ),
    { description: 'What it does, for models. Default: the words of the manifest.' },
  ),
});

const tools = described(
  refine(record(nonEmptyText(), tool), `at most ${MAX_OPERATIONS} operations`, (named) => {
    return Object.keys(named).length <= MAX_OPERATIONS;
  }),
  { type: 'object', maxProperties: MAX_OPERATIONS, additionalProperties: tool },
);

const members = mapping('mcp', 'What agents may call through the surface mcp.', {
  expose: withDefault(enums(['none', 'read', 'all']), 'none', {
    description:
      'read: entities, GET routes and those with operation.reads; all: other routes and actions too.',
  }),
  only: optionally(operationIds, {
    description:
      'Operations to which that is narrowed: ids of routes, entity:NAME and action:NAME. Default: all of them.',
  }),
  approve: withDefault(enums(['never', 'danger', 'always']), 'danger', {
    description:
      'Which calls wait for the approval of a person: danger are those whose danger_level is medium or high.',
  }),
  result_bytes: bytes(
    102_400,
    [1024, 4_194_304],
    'Longest result that an agent gets: text and structure.',
  ),
  media_bytes: bytes(
    4_194_304,
    [1024, 16_777_216],
    'Longest images, audio and blobs of a result together, in base64.',
  ),
  tools: optionally(tools, {
    description: 'Names and descriptions of tools, by the ids of operations as in only.',
  }),
});

type Mcp = Infer<typeof members>;

const EXPOSED: Readonly<Record<Mcp['expose'], number>> = { none: 0, read: 1, all: 2 };
const UNAPPROVED: Readonly<Record<Mcp['approve'], number>> = { always: 0, danger: 1, never: 2 };

export const mcp = defineSection({
  struct: filledIn(members),
  validate: ({ tools: named }) => validateToolNames(named ?? {}),
  isFreeChange: (
    { expose, approve, only, result_bytes, media_bytes, ...others },
    {
      expose: exposed,
      approve: approved,
      only: named,
      result_bytes: before,
      media_bytes: mediaBefore,
      ...otherBefore
    },
  ) =>
    result_bytes <= before &&
    media_bytes <= mediaBefore &&
    EXPOSED[expose] <= EXPOSED[exposed] &&
    UNAPPROVED[approve] <= UNAPPROVED[approved] &&
    (named === undefined || only?.every((id) => named.includes(id)) === true) &&
    isDeepStrictEqual(others, otherBefore),
});

/** The names that the descriptor gives to tools, by operation; none if it exposes nothing. */
export function listToolNames({
  expose,
  tools: named = {},
}: ReadonlyDeep<Pick<Mcp, 'expose' | 'tools'>>): ReadonlyMap<string, string> {
  if (expose === 'none') return new Map();
  return new Map(
    Object.entries(named).flatMap(([id, { name }]) => (name === undefined ? [] : [[id, name]])),
  );
}

function validateToolNames(
  named: Readonly<Record<string, { readonly name?: string | undefined } | undefined>>,
): Violation[] {
  const owners = new Map<string, string>();
  return Object.entries(named).flatMap(([id, given]): Violation[] => {
    const name = given?.name;
    if (name === undefined) return [];
    const location = { path: ['mcp', 'tools', id, 'name'], at: 'value' } as const;
    const subject = `the tool name '${name}'`;
    const owner = owners.get(name);
    owners.set(name, id);
    if (owner !== undefined) {
      const message = `${subject} is also that of '${owner}': expected distinct names`;
      return [
        { rule: 'duplicate-tool', message, hint: 'give one of the two another name', ...location },
      ];
    }
    if (!RESERVED_TOOL_NAMES.some((reserved) => reserved === name) && !HASHED.test(name)) return [];
    const message = `${subject} is reserved: expected another one`;
    return [{ rule: 'reserved-tool', message, hint: 'choose another name', ...location }];
  });
}
