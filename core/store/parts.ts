import { APPROVAL_TABLES, createApprovalStore } from './approvals.js';
import { SECRET_TABLES } from './audit-digest.js';
import { createAuditStore } from './audit-log.js';
import { AUDIT_TABLES } from './audit-row.js';
import { CALL_TABLES, createCallStore } from './call-log.js';
import { CONFIG_TABLES, createConfigStore } from './config-values.js';
import { type PartContext, RELEASE_CHANGE } from './database.js';
import { createFleetHostStore, FLEET_TABLES } from './fleet-hosts.js';
import { createFleetLeaseStore, LEASE_TABLES } from './fleet-lease.js';
import { createReleaseStore } from './releases/release-store.js';
import { RELEASE_TABLES } from './releases/releases.js';
import { createSurfaceRecordStore, SURFACE_TABLES } from './surface-records.js';
import type { RowsOf } from './tables.js';

/** The tables of all parts of the store, in the order in which they are created. */
export const TABLES = {
  ...SECRET_TABLES,
  ...CONFIG_TABLES,
  ...AUDIT_TABLES,
  ...CALL_TABLES,
  ...SURFACE_TABLES,
  ...APPROVAL_TABLES,
  ...FLEET_TABLES,
  ...LEASE_TABLES,
  ...RELEASE_TABLES,
};

declare module './tables.js' {
  interface Tables extends RowsOf<typeof TABLES> {}
}

/** The parts of a store. Every function throws StoreUnavailable while the store is unavailable. */
export function createParts(context: PartContext) {
  const { use, notify } = context;
  return {
    config: createConfigStore(context),
    audit: createAuditStore(use),
    calls: createCallStore(use),
    surfaceRecords: createSurfaceRecordStore(use),
    approvals: createApprovalStore(use),
    fleetHosts: createFleetHostStore(use),
    fleetLeases: createFleetLeaseStore(use),
    releases: createReleaseStore(use, () => notify(RELEASE_CHANGE)),
  };
}

export type StoreParts = ReturnType<typeof createParts>;
