import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { McpProblem } from './describe-problem.js';
import { readMember } from './exchange.js';
import { isDeep } from './header-parameters.js';
import { type Session, withinTime } from './session.js';

const MAX_ENTRIES = 10_000;
const MAX_PAGES = 200;
const MAX_LIST_BYTES = 16 * 1_048_576;
const LIST_TIMEOUT_MS = 30_000;

/** The lists of a server: the member of a page, and the one that identifies an entry. */
const LISTS = {
  'tools/list': { member: 'tools', key: 'name', title: 'tools' },
  'resources/list': { member: 'resources', key: 'uri', title: 'resources' },
  'resources/templates/list': {
    member: 'resourceTemplates',
    key: 'uriTemplate',
    title: 'templates of resources',
  },
  'prompts/list': { member: 'prompts', key: 'name', title: 'prompts' },
} as const;

export type ListMethod = keyof typeof LISTS;

/** An entry of a list, of which only the member that identifies it is known. */
export interface ListedEntry extends Readonly<Record<string, unknown>> {
  /** The list has another entry of the same name or URI. */
  readonly [IS_AMBIGUOUS]?: true;
}

export const IS_AMBIGUOUS = Symbol('ambiguous');

/**
 * Reads all pages of a list.
 * @returns the entries by their name or URI
 * @throws McpProblem for a list that repeats a cursor, or is too long; ServerError, ProviderFailure.
 */
export async function listPages(
  session: Session,
  method: ListMethod,
): Promise<ReadonlyMap<string, ListedEntry>> {
  const { title } = LISTS[method];
  const entries = new Map<string, ListedEntry>();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let bytes = 0;
  do {
    const exchange = session.createExchange();
    const params = cursor === undefined ? {} : { cursor };
    const text = await withinTime(exchange, LIST_TIMEOUT_MS, () =>
      session.request({ method, params }, exchange),
    );
    bytes += text.length;
    // The transport has parsed the message in this turn.
    await nextTurn();
    const page: unknown = JSON.parse(text);
    for (const [id, entry] of readEntries(page, method)) {
      const first = entries.get(id);
      if (first === undefined) entries.set(id, entry);
      else if (!isSame(first, entry)) entries.set(id, { ...first, [IS_AMBIGUOUS]: true });
    }
    cursor = readCursor(page, session.version);
    if (cursor !== undefined && cursors.has(cursor)) {
      throw new McpProblem(`the list of ${title} repeats a cursor`);
    }
    if (cursor !== undefined) cursors.add(cursor);
    if (entries.size > MAX_ENTRIES || cursors.size >= MAX_PAGES || bytes >= MAX_LIST_BYTES) {
      throw new McpProblem(`the list of ${title} is too long`);
    }
  } while (cursor !== undefined);
  return entries;
}

/** Servers repeat entries, which says nothing new. */
function isSame(one: ListedEntry, other: ListedEntry): boolean {
  return !isDeep(one) && !isDeep(other) && isDeepStrictEqual(one, other);
}

function readEntries(page: unknown, method: ListMethod): readonly [string, ListedEntry][] {
  const { member, key, title } = LISTS[method];
  const entries = readMember(page, member);
  if (!Array.isArray(entries)) throw new McpProblem(`the list of ${title} is not a list`);
  return entries.flatMap((entry) => {
    const id = readMember(entry, key);
    return typeof id === 'string' ? [[id, entry as ListedEntry] as [string, ListedEntry]] : [];
  });
}

/** The first revision that says that an empty cursor is one. Servers of older ones may end a list with it. */
const EMPTY_CURSORS = '2026-07-28';

function readCursor(page: unknown, revision: string): string | undefined {
  const cursor = readMember(page, 'nextCursor');
  const isEnd = cursor === '' && revision < EMPTY_CURSORS;
  return typeof cursor === 'string' && !isEnd ? cursor : undefined;
}
