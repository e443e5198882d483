import pg from 'pg';
import { type StoreErrorCode, StoreUnavailable } from './store-unavailable.js';

/** Any error of pg that is not a response of the server. */
class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super('the connection to the database server was lost', { cause });
    const { code } = cause as { code?: unknown };
    this.code = typeof code === 'string' ? code : undefined;
  }
}

/** @throws ConnectionLost instead of an error that is not a response of the server. */
export async function rethrowConnectionLost<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof pg.DatabaseError ? error : new ConnectionLost(error);
  }
}

/** Keyed by SQLSTATE or its class (PostgreSQL, appendix A); longer prefixes first. */
const CODES: readonly (readonly [prefix: string, code: StoreErrorCode])[] = [
  ['53100', 'full'],
  ['25006', 'read_only_server'],
  ['55P03', 'locked'],
  ['57014', 'locked'],
  ['40', 'locked'],
  ['08', 'unreachable'],
  ['53', 'unreachable'],
  ['57P', 'unreachable'],
  ['25P03', 'unreachable'],
  ['23', 'inconsistent'],
  ['28', 'denied'],
  ['3D', 'denied'],
  ['42501', 'denied'],
  ['3F', 'damaged'],
  // Columns and tables that a newer modgate has removed: the store is opened again, which finds that out.
  ['42703', 'damaged'],
  ['42P01', 'damaged'],
  ['42P07', 'damaged'],
  ['XX', 'damaged'],
  ['58', 'disk_failed'],
];

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';

export function isPostgresContention(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    (error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK)
  );
}

/** `null` for a bug of modgate. Messages of the server may name users, so they are dropped. */
export function explainPostgresError(error: unknown): StoreUnavailable | null {
  if (error instanceof StoreUnavailable) return error;
  if (error instanceof ConnectionLost) {
    return new StoreUnavailable('unreachable', { nativeCode: error.code });
  }
  if (!(error instanceof pg.DatabaseError)) return null;
  const { code: nativeCode = '' } = error;
  const code = CODES.find(([prefix]) => nativeCode.startsWith(prefix))?.[1];
  return code === undefined ? null : new StoreUnavailable(code, { nativeCode });
}
