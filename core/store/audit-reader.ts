import type { AuditRow } from '../contract/audit-row.js';
import {
  type AuditFilter,
  type AuditVerification,
  readAuditRows,
  verifyAuditRows,
} from './audit-log.js';
import type { ReadableDatabase } from './database.js';
import { parsePostgresUrl } from './postgres-url.js';

/** Reads the audit of a store that a host may be using: nothing is written, no key is required. */
export interface AuditReader {
  /** Reads rows by ascending id. @throws StoreUnavailable */
  read(filter?: AuditFilter): AsyncIterable<AuditRow>;
  /** @throws StoreUnavailable */
  verify(): Promise<AuditVerification>;
  close(): Promise<void>;
}

/**
 * @throws StoreUnavailable when there is no store or it cannot be read.
 * @throws ConfigError for an invalid URL.
 */
export async function openAuditReader(url: string | null, stateDir: string): Promise<AuditReader> {
  const database = await openToRead(url, stateDir);
  return {
    read: (filter = {}) => explained(database, readAuditRows(database.query, filter)),
    verify: async () => {
      try {
        return await verifyAuditRows(database.query);
      } catch (error) {
        throw database.explain(error) ?? error;
      }
    },
    close: () => database.close(),
  };
}

async function openToRead(url: string | null, stateDir: string): Promise<ReadableDatabase> {
  if (url === null) return (await import('./sqlite-database.js')).openSqliteToRead(stateDir);
  const address = parsePostgresUrl(url);
  return (await import('./postgres-database.js')).openPostgresToRead(address);
}

async function* explained(
  database: ReadableDatabase,
  rows: AsyncIterable<AuditRow>,
): AsyncGenerator<AuditRow, void, undefined> {
  try {
    yield* rows;
  } catch (error) {
    throw database.explain(error) ?? error;
  }
}
