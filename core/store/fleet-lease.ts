import { storeTime, type UseDatabase } from './database.js';
import { type Table, texts } from './tables.js';

export const LEASE_TABLES = {
  /** The host that may act for its fleet, until a time of the store's clock, in ISO 8601. */
  fleet_lease: {
    columns: texts('fleet', 'holder', 'until'),
    primaryKey: ['fleet'],
    since: 16,
  },
} satisfies Record<string, Table>;

/** How long a lease lasts after it was taken or renewed. */
export const LEASE_SECONDS = 5;

export function createFleetLeaseStore(use: UseDatabase) {
  return {
    /**
     * Takes a lease that no host holds, or renews the own one.
     * @returns whether the host holds it
     */
    take: (fleet: string, holder: string): Promise<boolean> =>
      use(async (database) => {
        const until = storeTime(database, LEASE_SECONDS);
        const row = await database.transact((trx) =>
          trx
            .insertInto('fleet_lease')
            .values({ fleet, holder, until })
            .onConflict((conflict) =>
              conflict
                .column('fleet')
                .doUpdateSet({ holder, until })
                .where((where) =>
                  where.or([
                    where('fleet_lease.holder', '=', holder),
                    where('fleet_lease.until', '<', storeTime(database)),
                  ]),
                ),
            )
            .returning('holder')
            .executeTakeFirst(),
        );
        return row !== undefined;
      }),
  };
}

export type FleetLeaseStore = ReturnType<typeof createFleetLeaseStore>;
