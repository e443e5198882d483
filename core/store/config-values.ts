import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { appendAuditRow } from './audit-log.js';
import type { WriteAudit } from './audit-row.js';
import type { OpenedDatabase, PartContext } from './database.js';
import { decrypt, decryptOrClear, type EncryptedText, encrypt } from './encryption.js';
import type { StoreKeys } from './encryption-keys.js';
import { parseStored } from './parse-stored.js';
import { StoreUnavailable } from './store-unavailable.js';
import { type Column, INTEGER, type Table, type Tables, TEXT, TEXT_OR_NULL } from './tables.js';

export const CONFIG_TABLES = {
  config_module: {
    columns: {
      module: TEXT,
      revision: INTEGER,
      /** The digest of the place of the last delivery; `null`: none was recorded. */
      place: TEXT_OR_NULL,
    },
    primaryKey: ['module'],
  },
  config_value: {
    columns: {
      module: { ...TEXT, references: 'config_module.module' },
      service: TEXT,
      key: TEXT,
      /** JSON text, encrypted when `key_id` is not null. */
      value: TEXT,
      key_id: TEXT_OR_NULL,
      sensitive: { type: 'bigint' } as Column<0 | 1>,
      /** 1 for a value that was generated once, also after it was written again; otherwise `null`. */
      generated: { type: 'bigint', isNullable: true } as Column<1 | null>,
      updated_at: TEXT,
    },
    primaryKey: ['module', 'service', 'key'],
  },
} satisfies Record<string, Table>;

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
  /** A value that was generated once stays sensitive, whatever its field is now. */
  readonly sensitive: boolean;
  /** The revision of the value that is replaced; absent for any. */
  readonly expected?: number | undefined;
}

/** The value does not have the revision that the writer expects. */
export class ConfigConflict extends Error {
  override readonly name = 'ConfigConflict';
}

export interface GeneratedField extends ConfigAddress {
  /** Length of the secret; in hex twice as many digits. */
  readonly bytes: number;
}

interface Written {
  /** The new one of the module. */
  readonly revision: number;
  readonly sensitive: boolean;
}

/** The stored values of a module; a field without an entry has its default. */
export interface StoredConfig {
  /** 0 before the first write, incremented by each write. */
  readonly revision: number;
  /** The values by `service/key`. */
  readonly values: ReadonlyMap<string, unknown>;
  /** The revisions of stored values, by `service/key`: whole numbers that increase; 0 for a default. */
  readonly revisions: ReadonlyMap<string, number>;
  /** The reasons of unusable stored values, by `service/key`. */
  readonly unreadable: ReadonlyMap<string, StoreUnavailable>;
  /** The values that were stored as sensitive or were generated, by `service/key`. */
  readonly secrets: ReadonlySet<string>;
  /** The digest of the place of the last delivery; `null`: none was recorded. */
  readonly place: string | null;
}

export function createConfigStore({ use, keys, notify }: PartContext) {
  return {
    /**
     * A module that was never written to has revision 0 and no values.
     * @param secrets the fields, as `service/key`, whose values must be encrypted where there is a key
     */
    read: (module: string, secrets: ReadonlySet<string> = new Set()) =>
      use(({ query }) => readConfig(query, module, secrets, keys)),
    /**
     * Stores a value and its audit row (`ok`) in one transaction, durable when it resolves. When it throws
     * StoreUnavailable the write may or may not have been stored: the caller may repeat it.
     * @throws ConfigConflict if the value does not have the expected revision; nothing is stored.
     * @returns the new revision, whether the value is sensitive, and its JSON text, which long values should
     * create once
     */
    write: async (write: ConfigWrite, audit: WriteAudit) => {
      const { module } = write;
      const json = JSON.stringify(write.value);
      const put = async (database: OpenedDatabase, sensitive: boolean): Promise<Written | null> => {
        const digest = await database.digest({ json, sensitive });
        const draft = { ...audit, outcome: 'ok', value: null } as const;
        const written = await database.transact(async (trx) => {
          await lockModule(trx, module);
          const before = await readState(trx, write);
          if (!sensitive && before.isGenerated) return 'generated';
          const { expected = before.revision } = write;
          if (expected !== before.revision) return null;
          const revision = await writeValue(trx, { ...write, sensitive }, json, keys);
          await appendAuditRow(trx, draft, digest);
          await database.announce(trx, module);
          return { revision, sensitive };
        });
        // Again with the digest of a sensitive value, which cannot be computed within the transaction.
        return written === 'generated' ? put(database, true) : written;
      };
      const written = await use((database) => put(database, write.sensitive));
      if (written === null) throw new ConfigConflict();
      notify(module);
      return { ...written, json };
    },
    /** Whether the value was generated once, and thus is sensitive whatever its field is now. */
    isGenerated: (address: ConfigAddress): Promise<boolean> =>
      use(async ({ query }) => (await readState(query, address)).isGenerated),
    /**
     * The value of a generated field: created once as lower-case hex of random bytes and shared by all hosts.
     * It is sensitive; creating it changes no revision, calls no listener and leaves no audit row.
     * @throws StoreUnavailable `not_encrypted` for a text in clear of an earlier field although there is a
     * key; `encrypt-store` then encrypts it.
     */
    ensureGenerated: (field: GeneratedField): Promise<string> =>
      use(async (database) => {
        const stored = await readSecret(database.query, field, keys);
        const text = stored?.isMarked
          ? stored.text
          : await database.transact((trx) => ensureSecret(trx, field, keys));
        return parseValue(text, field, keys, decrypt) as string;
      }),
    /** The modules with stored secrets; each with the digest of the place of its last delivery, or `null`. */
    listSecrets: (): Promise<ReadonlyMap<string, string | null>> =>
      use(async ({ query }) => {
        const rows = await query
          .selectFrom('config_module')
          .innerJoin('config_value', 'config_value.module', 'config_module.module')
          .select(['config_module.module', 'place'])
          .distinct()
          .where((row) => row.or([row('sensitive', '=', 1), row('generated', '=', 1)]))
          .execute();
        return new Map(rows.map(({ module, place }) => [module, place]));
      }),
    /** Records where a module's values are delivered; nothing for a module that was never written to. */
    writePlace: (module: string, place: string): Promise<void> =>
      use(({ transact }) => transact((trx) => writeStoredPlace(trx, module, place))),
  };
}

async function readConfig(
  query: Kysely<Tables>,
  module: string,
  secrets: ReadonlySet<string>,
  keys: StoreKeys | null,
): Promise<StoredConfig> {
  // In one statement, so that revision and values are consistent.
  const rows = await query
    .selectFrom('config_module')
    .leftJoin('config_value', 'config_value.module', 'config_module.module')
    .select(['revision', 'place', 'service', 'key', 'value', 'key_id', 'sensitive', 'generated'])
    .select('updated_at')
    .where('config_module.module', '=', module)
    .execute();
  const values = new Map<string, unknown>();
  const unreadable = new Map<string, StoreUnavailable>();
  const stored = new Set<string>();
  const revisions = new Map<string, number>();
  for (const { service, key, value, key_id, sensitive, generated, updated_at } of rows) {
    if (service === null || key === null || value === null) continue;
    const name = `${service}/${key}`;
    if (sensitive === 1 || generated === 1) stored.add(name);
    revisions.set(name, toRevision(updated_at));
    // The column is not enough: write access to the database is enough to change it.
    const read = sensitive === 1 || secrets.has(name) ? decrypt : decryptOrClear;
    try {
      values.set(name, parseValue({ value, key_id }, { module, service, key }, keys, read));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      unreadable.set(name, error);
    }
  }
  const { revision = 0, place = null } = rows[0] ?? {};
  return { revision, values, revisions, unreadable, secrets: stored, place };
}

/** @throws StoreUnavailable as `decrypt`, and for a text that is not JSON. */
function parseValue(
  text: EncryptedText,
  { module, service, key }: ConfigAddress,
  keys: StoreKeys | null,
  read: typeof decrypt,
): unknown {
  const subject = `the value of '${service}/${key}' of module '${module}'`;
  return parseStored(read(text, [module, service, key], keys), subject);
}

export async function writeStoredPlace(
  query: Kysely<Tables>,
  module: string,
  place: string,
): Promise<void> {
  await query.updateTable('config_module').set({ place }).where('module', '=', module).execute();
}

/** The time of the last write. Each write increases it, even one by an older host. */
function toRevision(updatedAt: string | null | undefined): number {
  return updatedAt == null ? 0 : Date.parse(updatedAt);
}

/** What is known of a value without reading it. */
interface ValueState {
  /** 0 without a value. */
  readonly revision: number;
  readonly isGenerated: boolean;
}

async function readState(
  query: Kysely<Tables>,
  { module, service, key }: ConfigAddress,
): Promise<ValueState> {
  const row = await query
    .selectFrom('config_value')
    .select(['updated_at', 'generated'])
    .where(({ and }) => and({ module, service, key }))
    .executeTakeFirst();
  return { revision: toRevision(row?.updated_at), isGenerated: row?.generated === 1 };
}

/** Other writers of the module wait for the end of the transaction. */
async function lockModule(trx: Transaction<Tables>, module: string): Promise<void> {
  await trx
    .insertInto('config_module')
    .values({ module, revision: 0 })
    .onConflict((conflict) => conflict.column('module').doUpdateSet({ module }))
    .execute();
}

/** @returns the new revision */
async function writeValue(
  trx: Transaction<Tables>,
  write: ConfigWrite,
  json: string,
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
  await putValue(trx, write, json, write.sensitive ? keys : null);
  return revision;
}

/**
 * The secret of a generated field: the first host creates it, all hosts read the same one. An earlier
 * text is marked in any case, so that `encrypt-store` finds it.
 */
async function ensureSecret(
  trx: Transaction<Tables>,
  field: GeneratedField,
  keys: StoreKeys | null,
): Promise<EncryptedText> {
  const { module, service, key } = field;
  await lockModule(trx, module);
  const existing = await readSecret(trx, field, keys);
  const json = JSON.stringify(randomBytes(field.bytes).toString('hex'));
  const text = existing?.text ?? (await putValue(trx, { ...field, sensitive: true }, json, keys));
  await trx
    .updateTable('config_value')
    .set({ generated: 1 })
    .where(({ and }) => and({ module, service, key }))
    .execute();
  return text;
}

interface StoredSecret {
  readonly text: EncryptedText;
  /** Whether it is marked as generated. Otherwise it was written before the field was generated. */
  readonly isMarked: boolean;
}

/** `null` where there is none. A value that is not a string was written before the field was generated. */
async function readSecret(
  query: Kysely<Tables>,
  address: ConfigAddress,
  keys: StoreKeys | null,
): Promise<StoredSecret | null> {
  const { module, service, key } = address;
  const row = await query
    .selectFrom('config_value')
    .select(['value', 'key_id', 'generated'])
    .where(({ and }) => and({ module, service, key }))
    .executeTakeFirst();
  if (row === undefined) return null;
  const read = row.generated === 1 ? decrypt : decryptOrClear;
  const value = parseValue(row, address, keys, read);
  return typeof value === 'string' ? { text: row, isMarked: row.generated === 1 } : null;
}

async function putValue(
  trx: Transaction<Tables>,
  { module, service, key, sensitive }: ConfigAddress & Pick<ConfigWrite, 'sensitive'>,
  json: string,
  keys: StoreKeys | null,
): Promise<EncryptedText> {
  const before = await readState(trx, { module, service, key });
  const text = encrypt(json, [module, service, key], keys);
  const content = {
    ...text,
    sensitive: sensitive ? (1 as const) : (0 as const),
    updated_at: new Date(Math.max(Date.now(), before.revision + 1)).toISOString(),
  };
  await trx
    .insertInto('config_value')
    .values({ module, service, key, ...content })
    .onConflict((conflict) => conflict.columns(['module', 'service', 'key']).doUpdateSet(content))
    .execute();
  return text;
}
