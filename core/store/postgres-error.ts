import pg from 'pg';
import { findCertificateProblem, UNKNOWN_AUTHORITY } from '../lib/tls-problem.js';
import { type StoreErrorCode, StoreUnavailable } from './store-unavailable.js';

/** The message of pg, which has no code. */
const NO_TLS = 'The server does not support SSL connections';

function findTlsProblem(message: unknown, code = ''): string | undefined {
  if (message === NO_TLS) {
    return 'the database server has no TLS: with sslmode=disable the host connects without it';
  }
  const problem = findCertificateProblem(code);
  const remedy = problem === UNKNOWN_AUTHORITY ? ': name it with sslrootcert' : '';
  return problem && `the certificate of the database server ${problem}${remedy}`;
}

/** Any error of pg that is not a response of the server. */
class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly code: string | undefined;
  /** Why there is no TLS connection. */
  readonly tlsProblem: string | undefined;

  constructor(cause: unknown) {
    super('the connection to the database server was lost', { cause });
    const { code, message } = cause as { code?: unknown; message?: unknown };
    this.code = typeof code === 'string' ? code : undefined;
    this.tlsProblem = findTlsProblem(message, this.code);
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

/** Messages of a SQLSTATE that say more than those of its code. */
const MESSAGES: Readonly<Record<string, string | undefined>> = {
  53300: 'the database server has no free connection: raise max_connections, or use a pooler',
  28000: 'the database server denies access: check the user, pg_hba.conf and sslmode in --store',
};

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
    return new StoreUnavailable('unreachable', {
      nativeCode: error.code,
      message: error.tlsProblem,
    });
  }
  if (!(error instanceof pg.DatabaseError)) return null;
  const { code: nativeCode = '' } = error;
  const code = CODES.find(([prefix]) => nativeCode.startsWith(prefix))?.[1];
  if (code === undefined) return null;
  return new StoreUnavailable(code, { nativeCode, message: MESSAGES[nativeCode] });
}
