import { type Kysely, sql } from 'kysely';
import type { ChangeListener } from './database.js';
import type { Tables } from './tables.js';

// Within the second that a notification of PostgreSQL may take; a poll costs 12 µs.
const POLL_MS = 250;

/**
 * Calls `onChange` for modules that another process, such as a worker, has written to. A module that this
 * process wrote to as well may be reported again.
 * @returns stops watching
 */
export async function watchRevisions(
  query: Kysely<Tables>,
  onChange: ChangeListener,
): Promise<() => void> {
  let known = await readRevisions(query);
  let version = await readDataVersion(query);
  const poll = async () => {
    const current = await readDataVersion(query);
    if (current === version) return;
    const revisions = await readRevisions(query);
    const changed = [...revisions].filter(
      ([module, revision]) => (known.get(module) ?? 0) !== revision,
    );
    [version, known] = [current, revisions];
    for (const [module] of changed) onChange(module);
  };
  // A failure here also fails the next operation, which reports it.
  const timer = setInterval(() => void poll().catch(() => {}), POLL_MS).unref();
  return () => clearInterval(timer);
}

/** Grows when another connection commits, never by this one's own commits. */
async function readDataVersion(query: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(query);
  return rows[0]?.data_version ?? 0;
}

async function readRevisions(query: Kysely<Tables>): Promise<ReadonlyMap<string, number>> {
  const rows = await query.selectFrom('config_module').select(['module', 'revision']).execute();
  return new Map(rows.map(({ module, revision }) => [module, revision]));
}
