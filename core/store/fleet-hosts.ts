import { type RawBuilder, sql } from 'kysely';
import type { FleetHostStatus } from '../contract/fleet-status.js';
import type { UseDatabase } from './database.js';

/** Seconds without a heartbeat after which a host counts as lost. */
const LOST_AFTER_S = 6;
/** Seconds without a heartbeat after which a host is removed from the list. */
const REMOVED_AFTER_S = 3600;

/** What a host reports of itself. */
export interface Heartbeat
  extends Pick<FleetHostStatus, 'id' | 'version' | 'address' | 'digest' | 'workers' | 'rejected'> {
  readonly fleet: string;
  readonly state: Exclude<FleetHostStatus['state'], 'lost'>;
  /** Names and digests of what it serves; `null` where they have not changed. */
  readonly serves: readonly string[] | null;
}

/** The hosts of fleets. PostgreSQL only: with SQLite every function throws. */
export interface FleetHostStore {
  beat(heartbeat: Heartbeat): Promise<void>;
  /**
   * By id.
   * @param served a name or digest that hosts may serve
   */
  list(fleet: string, served?: string): Promise<readonly FleetHostStatus[]>;
  remove(fleet: string, id: string): Promise<void>;
  /** Removes hosts that have been lost for an hour. */
  prune(fleet: string): Promise<void>;
}

/** The time of the store, some seconds ago. */
function timeAgo(seconds: number): RawBuilder<string> {
  return sql<string>`to_char(
    (clock_timestamp() - make_interval(secs => ${seconds})) at time zone 'utc',
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
  )`;
}

export function createFleetHostStore(use: UseDatabase): FleetHostStore {
  return {
    beat: ({ rejected, serves, ...heartbeat }) =>
      use(async ({ query }) => {
        const row = {
          ...heartbeat,
          rejected: JSON.stringify(rejected),
          serves: serves === null ? null : JSON.stringify(serves),
          heartbeat_at: timeAgo(0),
        };
        await query
          .insertInto('fleet_host')
          .values({ ...row, started_at: timeAgo(0) })
          .onConflict((conflict) =>
            conflict.columns(['fleet', 'id']).doUpdateSet({
              ...row,
              serves: sql<string | null>`coalesce(excluded.serves, fleet_host.serves)`,
              // A host that starts again begins with this state.
              started_at: sql<string>`case when excluded.state = 'starting' and fleet_host.state <> 'starting'
                then excluded.started_at else fleet_host.started_at end`,
            }),
          )
          .execute();
      }),
    list: (fleet, served) =>
      use(async ({ query }) => {
        const rows = await query
          .selectFrom('fleet_host')
          .select(['id', 'version', 'address', 'digest', 'state', 'workers', 'rejected'])
          .select(['started_at', 'heartbeat_at'])
          .select(sql<boolean>`heartbeat_at < ${timeAgo(LOST_AFTER_S)}`.as('is_lost'))
          .$if(served !== undefined, (select) =>
            select.select(
              sql<boolean>`coalesce(serves, '[]')::jsonb @> ${JSON.stringify([served])}::jsonb`.as(
                'serves',
              ),
            ),
          )
          .where('fleet', '=', fleet)
          .where('heartbeat_at', '>', timeAgo(REMOVED_AFTER_S))
          .orderBy('id')
          .execute();
        return rows.map(({ is_lost, rejected, state, ...row }) => ({
          ...row,
          state: is_lost ? 'lost' : state,
          rejected: JSON.parse(rejected) as string[],
        }));
      }),
    remove: (fleet, id) =>
      use(async ({ query }) => {
        await query
          .deleteFrom('fleet_host')
          .where('fleet', '=', fleet)
          .where('id', '=', id)
          .execute();
      }),
    prune: (fleet) =>
      use(async ({ query }) => {
        await query
          .deleteFrom('fleet_host')
          .where('fleet', '=', fleet)
          .where('heartbeat_at', '<', timeAgo(REMOVED_AFTER_S))
          .execute();
      }),
  };
}
