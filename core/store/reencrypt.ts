import type { Log } from '../contract/index.js';
import { DIGEST_KEY } from './audit-digest.js';
import type { Database } from './database.js';
import {
  decryptOrClear,
  type EncryptedText,
  type EncryptionContext,
  encrypt,
} from './encryption.js';
import type { StoreKeys } from './encryption-keys.js';
import { StoreUnavailable } from './store-unavailable.js';

/** `null` leaves the value as it is. */
type Reencrypt = (context: EncryptionContext, stored: EncryptedText) => EncryptedText | null;

/**
 * Re-encrypts values of older keys with the first key. Revisions do not change. Values that cannot be
 * decrypted, or are in clear, stay unchanged and are logged.
 */
export async function rotateKeys(database: Database, keys: StoreKeys, log: Log): Promise<void> {
  let unencrypted = 0;
  const count = await reencryptStore(database, keys, (context, stored) => {
    if (stored.key_id === null) {
      unencrypted += 1;
      return null;
    }
    return reencrypt(context, stored, keys, log);
  });
  if (count > 0) log.info({ count }, 'store values encrypted with the first key');
  if (unencrypted > 0) {
    log.warn({ count: unencrypted }, 'store values not encrypted: run modgate encrypt-store');
  }
}

/** Encrypts values that are in clear or encrypted with an older key. @returns their number */
export function encryptStore(database: Database, keys: StoreKeys, log: Log): Promise<number> {
  return reencryptStore(database, keys, (context, stored) => reencrypt(context, stored, keys, log));
}

function reencrypt(
  context: EncryptionContext,
  stored: EncryptedText,
  keys: StoreKeys,
  log: Log,
): EncryptedText | null {
  try {
    return encrypt(decryptOrClear(stored, context, keys), context, keys);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    log.warn({ code: error.code, reason: error.message }, 'store value unreadable');
    return null;
  }
}

async function reencryptStore(
  database: Database,
  keys: StoreKeys,
  update: Reencrypt,
): Promise<number> {
  const keyId = keys.primary.id;
  return (
    (await reencryptValues(database, keyId, update)) +
    (await reencryptDigestKey(database, keyId, update))
  );
}

async function reencryptValues(
  database: Database,
  keyId: string,
  update: Reencrypt,
): Promise<number> {
  const rows = await database.query
    .selectFrom('config_value')
    .select(['module', 'service', 'key', 'value', 'key_id'])
    .where('sensitive', '=', 1)
    .where((row) => row.or([row('key_id', 'is', null), row('key_id', '!=', keyId)]))
    .execute();
  let count = 0;
  for (const { module, service, key, ...stored } of rows) {
    const updated = update([module, service, key], stored);
    if (updated === null) continue;
    await database.transact((trx) =>
      trx
        .updateTable('config_value')
        .set(updated)
        .where('module', '=', module)
        .where('service', '=', service)
        .where('key', '=', key)
        // Another host may have written since.
        .where('value', '=', stored.value)
        .execute(),
    );
    count += 1;
  }
  return count;
}

async function reencryptDigestKey(
  database: Database,
  keyId: string,
  update: Reencrypt,
): Promise<number> {
  const stored = await database.query
    .selectFrom('store_secret')
    .select(['value', 'key_id'])
    .where('name', '=', DIGEST_KEY)
    .where((row) => row.or([row('key_id', 'is', null), row('key_id', '!=', keyId)]))
    .executeTakeFirst();
  const updated = stored === undefined ? null : update([DIGEST_KEY], stored);
  if (updated === null) return 0;
  await database.transact((trx) =>
    trx.updateTable('store_secret').set(updated).where('name', '=', DIGEST_KEY).execute(),
  );
  return 1;
}
