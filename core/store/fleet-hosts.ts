import type { Transaction } from 'kysely';
import type { FleetHostStatus } from '../contract/fleet-status.js';
import { storeTime, type UseDatabase } from './database.js';
import { parseStored } from './parse-stored.js';
import {
  type Column,
  INTEGER,
  type Table,
  type Tables,
  TEXT,
  TEXT_OR_NULL,
  texts,
} from './tables.js';

export const FLEET_TABLES = {
  /** Times are the store's clock, in ISO 8601. */
  fleet_host: {
    columns: {
      ...texts('fleet', 'id', 'version', 'address', 'digest'),
      state: TEXT as Column<Heartbeat['state']>,
      workers: INTEGER,
      /** A list, as JSON text. */
      rejected: TEXT,
      /** A list, as JSON text. */
      serves: TEXT_OR_NULL,
      ...texts('started_at', 'heartbeat_at'),
    },
    primaryKey: ['fleet', 'id'],
  },
} satisfies Record<string, Table>;

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

/** What the store has of a host after its heartbeat. Times are those of the store. */
export interface StoredHeartbeat {
  readonly at: string;
  readonly startedAt: string;
  /** False for a host that was not listed any more, until it sends what it serves. */
  readonly isComplete: boolean;
}

/** The hosts of fleets. PostgreSQL only: with SQLite every function throws. */
export function createFleetHostStore(use: UseDatabase) {
  return {
    beat: ({ rejected, serves, ...heartbeat }: Heartbeat): Promise<StoredHeartbeat> =>
      use(async (database) => {
        const { query, sql } = database;
        const row = {
          ...heartbeat,
          rejected: JSON.stringify(rejected),
          serves: serves === null ? null : JSON.stringify(serves),
          heartbeat_at: storeTime(database),
        };
        const { is_complete, ...times } = await query
          .insertInto('fleet_host')
          .values({ ...row, started_at: row.heartbeat_at })
          .onConflict((conflict) =>
            conflict.columns(['fleet', 'id']).doUpdateSet({
              ...row,
              serves: sql<string | null>`coalesce(excluded.serves, fleet_host.serves)`,
              // A host that starts again has no address yet; a ready one may only wait for a release.
              started_at: sql<string>`case when excluded.address = '' and fleet_host.address <> ''
                then excluded.started_at else fleet_host.started_at end`,
            }),
          )
          .returning(['heartbeat_at', 'started_at'])
          .returning(sql<boolean>`serves is not null`.as('is_complete'))
          .executeTakeFirstOrThrow();
        return { at: times.heartbeat_at, startedAt: times.started_at, isComplete: is_complete };
      }),
    /**
     * Lists hosts by id.
     * @param served a name or digest that hosts may serve
     */
    list: (fleet: string, served?: string): Promise<readonly FleetHostStatus[]> =>
      use(async (database) => {
        const { query, sql } = database;
        const rows = await query
          .selectFrom('fleet_host')
          .select(['id', 'version', 'address', 'digest', 'state', 'workers', 'rejected'])
          .select(['started_at', 'heartbeat_at'])
          .select(sql<boolean>`heartbeat_at < ${storeTime(database, -LOST_AFTER_S)}`.as('is_lost'))
          .$if(served !== undefined, (select) =>
            select.select(
              sql<boolean>`coalesce(serves, '[]')::jsonb @> ${JSON.stringify([served])}::jsonb`.as(
                'serves',
              ),
            ),
          )
          .where('fleet', '=', fleet)
          .where('heartbeat_at', '>', storeTime(database, -REMOVED_AFTER_S))
          .orderBy('id')
          .execute();
        return rows.map(({ is_lost, rejected, state, ...row }) => ({
          ...row,
          state: is_lost ? 'lost' : state,
          rejected: parseStored(rejected, `what host '${row.id}' rejects`) as string[],
        }));
      }),
    /**
     * Removes a host, and what it has reported of releases.
     * @param startedAt keeps a host with this id that has started at another time
     */
    remove: (fleet: string, id: string, startedAt: string): Promise<void> =>
      use(({ transact }) =>
        transact(async (trx) => {
          await trx
            .deleteFrom('fleet_host')
            .where(({ and }) => and({ fleet, id, started_at: startedAt }))
            .execute();
          await removeReports(trx, fleet);
        }),
      ),
    /** Removes hosts that have been lost for an hour, and what they have reported of releases. */
    prune: (fleet: string): Promise<void> =>
      use((database) =>
        database.transact(async (trx) => {
          await trx
            .deleteFrom('fleet_host')
            .where('fleet', '=', fleet)
            .where('heartbeat_at', '<', storeTime(database, -REMOVED_AFTER_S))
            .execute();
          await removeReports(trx, fleet);
        }),
      ),
  };
}

export type FleetHostStore = ReturnType<typeof createFleetHostStore>;

/** A canary is decided by the figures of all its hosts, also of those that have stopped. */
async function removeReports(trx: Transaction<Tables>, fleet: string): Promise<void> {
  const hosts = trx.selectFrom('fleet_host').select('id').where('fleet', '=', fleet);
  const canary = trx
    .selectFrom('release_state')
    .select('fleet')
    .where('fleet', '=', fleet)
    .where('canary', 'is not', null);
  await trx
    .deleteFrom('release_host')
    .where('fleet', '=', fleet)
    .where('host', 'not in', hosts)
    .where(({ not, exists }) => not(exists(canary)))
    .execute();
}
