import { ConfigError } from '../errors.js';

const DEFAULT_SCHEMA = 'modgate';
// Lower case and short: it is also part of the name of a channel, which PostgreSQL limits to 63 bytes.
const SCHEMA = /^[a-z_][a-z0-9_]{0,47}$/;

/** Those of libpq, and one of pg. */
const SSL_MODES = 'disable allow prefer require verify-ca verify-full no-verify'.split(' ');

export interface PostgresAddress {
  /** The URL for pg, without modgate's own parameter `schema`. */
  readonly connectionString: string;
  readonly schema: string;
}

/**
 * Reads `postgres://user@host:5432/database?schema=modgate`.
 * @throws ConfigError without the URL, which may contain a password.
 */
export function parsePostgresUrl(text: string): PostgresAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^postgres(?:ql)?:\/\//i.test(text)) {
    throw new ConfigError('the URL of the store must be postgres://user@host:5432/database');
  }
  const schema = url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema)) {
    throw new ConfigError(
      "'schema' in the URL of the store must be a name in lower case: letters, digits and _, at most 48",
    );
  }
  const sslMode = url.searchParams.get('sslmode');
  if (sslMode !== null && !SSL_MODES.includes(sslMode)) {
    throw new ConfigError(
      `'sslmode' in the URL of the store must be one of ${SSL_MODES.join(', ')}`,
    );
  }
  url.searchParams.delete('schema');
  return { connectionString: url.href, schema };
}

const CERTIFICATE_PARAMETERS = ['sslcert', 'sslkey', 'sslrootcert'];

/** The parameters of the URL that name files, with the files. */
export function listCertificateFiles({
  connectionString,
}: PostgresAddress): (readonly [parameter: string, file: string])[] {
  const { searchParams } = new URL(connectionString);
  return CERTIFICATE_PARAMETERS.flatMap((parameter) => {
    const file = searchParams.get(parameter);
    return file === null || file === '' ? [] : [[parameter, file] as const];
  });
}
