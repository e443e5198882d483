import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { Database } from './database.js';
import { decrypt, decryptOrClear, type EncryptedText, encrypt } from './encryption.js';
import type { StoreKeys } from './encryption-keys.js';
import { StoreUnavailable } from './store-unavailable.js';
import type { Tables } from './tables.js';

/** A field of a module's manifest. */
export interface ConfigAddress {
  /** The name under which the module is configured. */
  readonly module: string;
  readonly service: string;
  readonly key: string;
}

export interface ConfigWrite extends ConfigAddress {
  /** Any JSON value, as parsed by JSON.parse. */
  readonly value: unknown;
  readonly sensitive: boolean;
}

export interface GeneratedField extends ConfigAddress {
  /** Length of the secret; in hex twice as many digits. */
  readonly bytes: number;
}

export interface StoredValue {
  readonly value: unknown;
  /** ISO 8601, UTC. */
  readonly updatedAt: string;
}

/** The stored values of a module; a field without an entry has its default. */
export interface StoredConfig {
  /** 0 before the first write, incremented by each write. */
  readonly revision: number;
  /** The values by `service/key`. */
  readonly values: ReadonlyMap<string, StoredValue>;
  /** The reasons of unusable stored values, by `service/key`. */
  readonly unreadable: ReadonlyMap<string, StoreUnavailable>;
}

/** @param secrets the fields, as `service/key`, whose values must be encrypted where there is a key */
export async function readStoredConfig(
  query: Kysely<Tables>,
  module: string,
  secrets: ReadonlySet<string>,
  keys: StoreKeys | null,
): Promise<StoredConfig> {
  // In one statement, so that revision and values are consistent.
  const rows = await query
    .selectFrom('config_module')
    .leftJoin('config_value', 'config_value.module', 'config_module.module')
    .select(['revision', 'service', 'key', 'value', 'key_id', 'sensitive', 'updated_at'])
    .where('config_module.module', '=', module)
    .execute();
  const values = new Map<string, StoredValue>();
  const unreadable = new Map<string, StoreUnavailable>();
  for (const { service, key, value, key_id, sensitive, updated_at } of rows) {
    if (service === null || key === null || value === null || updated_at === null) continue;
    const name = `${service}/${key}`;
    // The column is not enough: write access to the database is enough to change it.
    const read = sensitive === 1 || secrets.has(name) ? decrypt : decryptOrClear;
    const result = tryRead(read, { module, service, key }, { value, key_id }, keys);
    if (result instanceof StoreUnavailable) unreadable.set(name, result);
    else values.set(name, { value: result.value, updatedAt: updated_at });
  }
  return { revision: rows[0]?.revision ?? 0, values, unreadable };
}

/** @returns the new revision */
export async function writeStoredValue(
  trx: Transaction<Tables>,
  write: ConfigWrite,
  keys: StoreKeys | null,
): Promise<number> {
  const { revision } = await trx
    .insertInto('config_module')
    .values({ module: write.module, revision: 1 })
    .onConflict((conflict) =>
      conflict.column('module').doUpdateSet((row) => ({
        revision: row('config_module.revision', '+', 1),
      })),
    )
    .returning('revision')
    .executeTakeFirstOrThrow();
  await putValue(trx, write, JSON.stringify(write.value), write.sensitive ? keys : null);
  return revision;
}

/** The secret of a generated field: the first host creates it, all hosts read the same one. */
export async function ensureStoredSecret(
  trx: Transaction<Tables>,
  field: GeneratedField,
  database: Pick<Database, 'locksRows'>,
  keys: StoreKeys | null,
): Promise<string> {
  // Other hosts wait for the lock on the module's row.
  const { module } = field;
  await trx
    .insertInto('config_module')
    .values({ module, revision: 0 })
    .onConflict((conflict) => conflict.column('module').doNothing())
    .execute();
  await trx
    .selectFrom('config_module')
    .select('revision')
    .where('module', '=', module)
    .$if(database.locksRows, (select) => select.forUpdate())
    .execute();
  const existing = await readStoredSecret(trx, field, keys);
  if (existing !== null) return existing;
  const secret = randomBytes(field.bytes).toString('hex');
  await putValue(trx, { ...field, sensitive: true }, JSON.stringify(secret), keys);
  return secret;
}

/** `null` where there is none. A value that is not a string was written before the field was generated. */
export async function readStoredSecret(
  query: Kysely<Tables>,
  address: ConfigAddress,
  keys: StoreKeys | null,
): Promise<string | null> {
  const { module, service, key } = address;
  const row = await query
    .selectFrom('config_value')
    .select(['value', 'key_id'])
    .where('module', '=', module)
    .where('service', '=', service)
    .where('key', '=', key)
    .executeTakeFirst();
  if (row === undefined) return null;
  const value: unknown = JSON.parse(decrypt(row, [module, service, key], keys));
  return typeof value === 'string' ? value : null;
}

async function putValue(
  trx: Transaction<Tables>,
  { module, service, key, sensitive }: ConfigAddress & Pick<ConfigWrite, 'sensitive'>,
  json: string,
  keys: StoreKeys | null,
): Promise<void> {
  const content = {
    ...encrypt(json, [module, service, key], keys),
    sensitive: sensitive ? (1 as const) : (0 as const),
    updated_at: new Date().toISOString(),
  };
  await trx
    .insertInto('config_value')
    .values({ module, service, key, ...content })
    .onConflict((conflict) => conflict.columns(['module', 'service', 'key']).doUpdateSet(content))
    .execute();
}

function tryRead(
  read: typeof decrypt,
  { module, service, key }: ConfigAddress,
  stored: EncryptedText,
  keys: StoreKeys | null,
): { readonly value: unknown } | StoreUnavailable {
  try {
    return { value: JSON.parse(read(stored, [module, service, key], keys)) };
  } catch (error) {
    if (error instanceof StoreUnavailable) return error;
    const message = `the value of '${service}/${key}' of module '${module}' is not JSON`;
    return new StoreUnavailable('unreadable', { message });
  }
}
