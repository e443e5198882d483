import type { RawBuilder, Transaction } from 'kysely';
import type { FleetHostStatus } from '../contract/fleet-status.js';
import type { Database, UseDatabase } from './database.js';
import type { Tables } from './tables.js';

/** Seconds without a heartbeat after which a host counts as lost. */
const LOST_AFTER_S = 6;
/** Seconds without a heartbeat after which a host is removed from the list. */
const REMOVED_AFTER_S = 3600;

/** The report of a host about itself. */
export interface Heartbeat
  extends Pick<FleetHostStatus, 'id' | 'version' | 'address' | 'digest' | 'workers' | 'rejected'> {
  readonly fleet: string;
  readonly state: Exclude<FleetHostStatus['state'], 'lost'>;
  /** Names and digests of what it serves; `null` where they have not changed. */
  readonly serves: readonly string[] | null;
}

/** The hosts of fleets. PostgreSQL only: with SQLite every function throws. */
export interface FleetHostStore {
  /** @returns the time of the store */
  beat(heartbeat: Heartbeat): Promise<string>;
  /**
   * Lists hosts by id.
   * @param served a name or digest that hosts may serve
   */
  list(fleet: string, served?: string): Promise<readonly FleetHostStatus[]>;
  /** Removes a host, and what it has reported of releases. */
  remove(fleet: string, id: string): Promise<void>;
  /** Removes hosts that have been lost for an hour, and what they have reported of releases. */
  prune(fleet: string): Promise<void>;
}

/** The time of the store, some seconds ago. */
function timeAgo(sql: Database['sql'], seconds: number): RawBuilder<string> {
  return sql<string>`to_char(
    (clock_timestamp() - make_interval(secs => ${seconds})) at time zone 'utc',
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
  )`;
}

export function createFleetHostStore(use: UseDatabase): FleetHostStore {
  return {
    beat: ({ rejected, serves, ...heartbeat }) =>
      use(async ({ query, sql }) => {
        const row = {
          ...heartbeat,
          rejected: JSON.stringify(rejected),
          serves: serves === null ? null : JSON.stringify(serves),
          heartbeat_at: timeAgo(sql, 0),
        };
        const { heartbeat_at: now } = await query
          .insertInto('fleet_host')
          .values({ ...row, started_at: timeAgo(sql, 0) })
          .onConflict((conflict) =>
            conflict.columns(['fleet', 'id']).doUpdateSet({
              ...row,
              serves: sql<string | null>`coalesce(excluded.serves, fleet_host.serves)`,
              // A host that starts again begins with this state.
              started_at: sql<string>`case when excluded.state = 'starting' and fleet_host.state <> 'starting'
                then excluded.started_at else fleet_host.started_at end`,
            }),
          )
          .returning('heartbeat_at')
          .executeTakeFirstOrThrow();
        return now;
      }),
    list: (fleet, served) =>
      use(async ({ query, sql }) => {
        const rows = await query
          .selectFrom('fleet_host')
          .select(['id', 'version', 'address', 'digest', 'state', 'workers', 'rejected'])
          .select(['started_at', 'heartbeat_at'])
          .select(sql<boolean>`heartbeat_at < ${timeAgo(sql, LOST_AFTER_S)}`.as('is_lost'))
          .$if(served !== undefined, (select) =>
            select.select(
              sql<boolean>`coalesce(serves, '[]')::jsonb @> ${JSON.stringify([served])}::jsonb`.as(
                'serves',
              ),
            ),
          )
          .where('fleet', '=', fleet)
          .where('heartbeat_at', '>', timeAgo(sql, REMOVED_AFTER_S))
          .orderBy('id')
          .execute();
        return rows.map(({ is_lost, rejected, state, ...row }) => ({
          ...row,
          state: is_lost ? 'lost' : state,
          rejected: JSON.parse(rejected) as string[],
        }));
      }),
    remove: (fleet, id) =>
      use(({ transact }) =>
        transact(async (trx) => {
          await trx
            .deleteFrom('fleet_host')
            .where('fleet', '=', fleet)
            .where('id', '=', id)
            .execute();
          await removeReports(trx, fleet);
        }),
      ),
    prune: (fleet) =>
      use(({ transact, sql }) =>
        transact(async (trx) => {
          await trx
            .deleteFrom('fleet_host')
            .where('fleet', '=', fleet)
            .where('heartbeat_at', '<', timeAgo(sql, REMOVED_AFTER_S))
            .execute();
          await removeReports(trx, fleet);
        }),
      ),
  };
}

/** A canary is decided by the figures of all its hosts, also of those that have stopped. */
async function removeReports(trx: Transaction<Tables>, fleet: string): Promise<void> {
  await trx
    .deleteFrom('release_host')
    .where('fleet', '=', fleet)
    .where('host', 'not in', trx.selectFrom('fleet_host').select('id').where('fleet', '=', fleet))
    .where(({ not, exists }) =>
      not(
        exists(
          trx
            .selectFrom('release_state')
            .select('fleet')
            .where('fleet', '=', fleet)
            .where('canary', 'is not', null),
        ),
      ),
    )
    .execute();
}
