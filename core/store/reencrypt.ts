import type { Log } from '../contract/index.js';
import { DIGEST_KEY } from './audit-digest.js';
import type { Database } from './database.js';
import { decrypt, type EncryptedText, type EncryptionContext, encrypt } from './encryption.js';
import type { StoreKeys } from './encryption-keys.js';
import { StoreUnavailable } from './store-unavailable.js';

/**
 * Encrypts with the first key what is sensitive and still in clear, or under an older key. Revisions stay.
 * What does not decrypt is left as it is, with a line in the log.
 */
export async function reencryptStore(database: Database, keys: StoreKeys, log: Log): Promise<void> {
  const seal = (context: EncryptionContext, sealed: EncryptedText) =>
    reencrypt(context, sealed, keys, log);
  const values = await reencryptValues(database, keys.primary.id, seal);
  const secrets = await reencryptDigestKey(database, keys.primary.id, seal);
  const count = values + secrets;
  if (count > 0) log.info({ count }, 'values of the store were encrypted with the first key');
}

type Reencrypt = (context: EncryptionContext, sealed: EncryptedText) => EncryptedText | null;

function reencrypt(
  context: EncryptionContext,
  sealed: EncryptedText,
  keys: StoreKeys,
  log: Log,
): EncryptedText | null {
  try {
    return encrypt(decrypt(sealed, context, keys), context, keys);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    log.warn({ fault: error.fault }, error.message);
    return null;
  }
}

async function reencryptValues(
  database: Database,
  keyId: string,
  seal: Reencrypt,
): Promise<number> {
  const rows = await database.query
    .selectFrom('config_value')
    .select(['module', 'service', 'key', 'value', 'key_id'])
    .where('sensitive', '=', 1)
    .where((row) => row.or([row('key_id', 'is', null), row('key_id', '!=', keyId)]))
    .execute();
  let count = 0;
  for (const { module, service, key, ...sealed } of rows) {
    const resealed = seal([module, service, key], sealed);
    if (resealed === null) continue;
    await database.transact((trx) =>
      trx
        .updateTable('config_value')
        .set(resealed)
        .where('module', '=', module)
        .where('service', '=', service)
        .where('key', '=', key)
        // Somebody may have written since.
        .where('value', '=', sealed.value)
        .execute(),
    );
    count += 1;
  }
  return count;
}

async function reencryptDigestKey(
  database: Database,
  keyId: string,
  seal: Reencrypt,
): Promise<number> {
  const sealed = await database.query
    .selectFrom('store_secret')
    .select(['value', 'key_id'])
    .where('name', '=', DIGEST_KEY)
    .where((row) => row.or([row('key_id', 'is', null), row('key_id', '!=', keyId)]))
    .executeTakeFirst();
  const resealed = sealed === undefined ? null : seal([DIGEST_KEY], sealed);
  if (resealed === null) return 0;
  await database.transact((trx) =>
    trx.updateTable('store_secret').set(resealed).where('name', '=', DIGEST_KEY).execute(),
  );
  return 1;
}
