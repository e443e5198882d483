import pg from 'pg';
import { type StoreFault, StoreUnavailable } from './store-unavailable.js';

/** Everything that pg throws which is no answer of the server. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super('the connection to the database server was lost', { cause });
    const { code } = cause as { code?: unknown };
    this.code = typeof code === 'string' ? code : undefined;
  }
}

/** @throws ConnectionLost instead of an error that is no answer of the server. */
export async function orLost<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof pg.DatabaseError ? error : new ConnectionLost(error);
  }
}

/** By SQLSTATE or its class (PostgreSQL, appendix A). The longer one first. */
const FAULTS: readonly (readonly [prefix: string, fault: StoreFault])[] = [
  ['53100', 'full'],
  ['25006', 'read_only'],
  ['55P03', 'locked'],
  ['57014', 'locked'],
  ['40', 'locked'],
  ['08', 'unreachable'],
  ['53', 'unreachable'],
  ['57P', 'unreachable'],
  ['25P03', 'unreachable'],
  ['23', 'inconsistent'],
  ['28', 'refused'],
  ['3D', 'refused'],
  ['42501', 'refused'],
  ['3F', 'damaged'],
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

/** `null` for an error that is a fault of modgate. Messages of the server name users, so none is kept. */
export function explainPostgresError(error: unknown): StoreUnavailable | null {
  if (error instanceof StoreUnavailable) return error;
  if (error instanceof ConnectionLost) {
    return new StoreUnavailable('unreachable', { code: error.code });
  }
  if (!(error instanceof pg.DatabaseError)) return null;
  const { code = '' } = error;
  const fault = FAULTS.find(([prefix]) => code.startsWith(prefix))?.[1];
  return fault === undefined ? null : new StoreUnavailable(fault, { code });
}
