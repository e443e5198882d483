import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../tables.js';

/** SQLite reads or writes a part in a few milliseconds, in one turn of the event loop. Bytes. */
const PART_LENGTH = 262_144;
const NOT_ASCII = /[\u0080-\uffff]/g;

interface PartsOf {
  readonly fleet: string;
  readonly release: string;
}

/** Splits a JSON text. In ASCII, no part ends within a character. */
export function splitContent(json: string): readonly string[] {
  const ascii = json.replace(
    NOT_ASCII,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return Array.from({ length: Math.ceil(ascii.length / PART_LENGTH) }, (_, number) =>
    ascii.slice(number * PART_LENGTH, (number + 1) * PART_LENGTH),
  );
}

/** The name of a release is the digest of its files, so that equal names have equal parts. */
export async function insertPart(
  trx: Transaction<Tables>,
  of: PartsOf,
  number: number,
  content: string,
): Promise<void> {
  await trx
    .insertInto('release_part')
    .values({ ...of, number, content })
    .onConflict((conflict) => conflict.columns(['fleet', 'release', 'number']).doNothing())
    .execute();
}

export async function countParts(
  query: Kysely<Tables>,
  { fleet, release }: PartsOf,
): Promise<number> {
  const { count } = await query
    .selectFrom('release_part')
    .select((table) => table.fn.countAll().as('count'))
    .where(({ and }) => and({ fleet, release }))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** @returns `null` after the last part */
export async function readPart(
  query: Kysely<Tables>,
  { fleet, release }: PartsOf,
  number: number,
): Promise<string | null> {
  const row = await query
    .selectFrom('release_part')
    .select('content')
    .where(({ and }) => and({ fleet, release, number }))
    .executeTakeFirst();
  return row?.content ?? null;
}

/**
 * Removes a part of no release: of one that was removed, or whose publish has failed.
 * @returns whether there was one
 */
export async function removeUnusedPart(trx: Transaction<Tables>, fleet: string): Promise<boolean> {
  const part = await trx
    .selectFrom('release_part as part')
    .leftJoin('release', (join) =>
      join.onRef('release.fleet', '=', 'part.fleet').onRef('release.id', '=', 'part.release'),
    )
    .select(['part.release', 'part.number'])
    .where('part.fleet', '=', fleet)
    .where('release.id', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (part === undefined) return false;
  await trx
    .deleteFrom('release_part')
    .where(({ and }) => and({ fleet, ...part }))
    .execute();
  return true;
}
