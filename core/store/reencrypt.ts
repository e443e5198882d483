import type { Transaction } from 'kysely';
import type { Log } from '../contract/index.js';
import type { Database } from './database.js';
import {
  decryptOrClear,
  type EncryptedText,
  type EncryptionContext,
  encrypt,
} from './encryption.js';
import type { StoreKeys } from './encryption-keys.js';
import { StoreUnavailable } from './store-unavailable.js';
import type { Tables } from './tables.js';

/**
 * Re-encrypts values of older keys with the first key. Revisions do not change. Values that cannot be
 * decrypted, or are in clear, stay unchanged and are logged.
 */
export async function rotateKeys(database: Database, keys: StoreKeys, log: Log): Promise<void> {
  const stored = await listSecrets(database, keys);
  const encrypted = stored.filter(({ text }) => text.key_id !== null);
  const count = await reencrypt(database, encrypted, keys, log);
  if (count > 0) log.info({ count }, 'store values encrypted with the first key');
  const unencrypted = stored.length - encrypted.length;
  if (unencrypted > 0) {
    log.warn({ count: unencrypted }, 'store values not encrypted: run modgate encrypt-store');
  }
}

/** Encrypts values that are in clear or encrypted with an older key. @returns their number */
export async function encryptStore(database: Database, keys: StoreKeys, log: Log): Promise<number> {
  return reencrypt(database, await listSecrets(database, keys), keys, log);
}

interface StoredText {
  readonly context: EncryptionContext;
  readonly text: EncryptedText;
  replace(trx: Transaction<Tables>, text: EncryptedText): { execute(): Promise<unknown> };
}

/** Lists what is not encrypted with the first key. */
async function listSecrets({ query }: Database, { primary }: StoreKeys): Promise<StoredText[]> {
  const values = await query
    .selectFrom('config_value')
    .select(['module', 'service', 'key', 'value', 'key_id'])
    .where((row) => row.or([row('sensitive', '=', 1), row('generated', '=', 1)]))
    .where('key_id', 'is distinct from', primary.id)
    .execute();
  const secrets = await query
    .selectFrom('store_secret')
    .select(['name', 'value', 'key_id'])
    .where('key_id', 'is distinct from', primary.id)
    .execute();
  // Another host may have written since: only the value that was read is replaced.
  return [
    ...values.map(({ module, service, key, ...text }) => ({
      context: [module, service, key],
      text,
      replace: (trx: Transaction<Tables>, updated: EncryptedText) =>
        trx
          .updateTable('config_value')
          .set(updated)
          .where(({ and }) => and({ module, service, key, value: text.value })),
    })),
    ...secrets.map(({ name, ...text }) => ({
      context: [name],
      text,
      replace: (trx: Transaction<Tables>, updated: EncryptedText) =>
        trx
          .updateTable('store_secret')
          .set(updated)
          .where(({ and }) => and({ name, value: text.value })),
    })),
  ];
}

async function reencrypt(
  database: Database,
  stored: readonly StoredText[],
  keys: StoreKeys,
  log: Log,
): Promise<number> {
  let count = 0;
  for (const { context, text, replace } of stored) {
    let updated: EncryptedText;
    try {
      updated = encrypt(decryptOrClear(text, context, keys), context, keys);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      log.warn({ code: error.code, reason: error.message }, 'store value unreadable');
      continue;
    }
    await database.transact((trx) => replace(trx, updated).execute());
    count += 1;
  }
  return count;
}
