import { randomBytes } from 'node:crypto';
import type { Database, DigestAudited } from './database.js';
import { digestWithoutBlocking } from './digest-thread.js';
import { decrypt, encrypt } from './encryption.js';
import type { StoreKeys } from './encryption-keys.js';
import { type Table, TEXT, TEXT_OR_NULL } from './tables.js';

export const SECRET_TABLES = {
  /** The store's own secrets. */
  store_secret: {
    columns: { name: TEXT, value: TEXT, key_id: TEXT_OR_NULL },
    primaryKey: ['name'],
  },
} satisfies Record<string, Table>;

const DIGEST_KEY = 'audit digest key';
const DIGEST_KEY_BYTES = 32;

/**
 * The digest of a value can be computed from it. That of a sensitive one is keyed: a short value could be found from
 * its digest by trying all. The key is created with the store and kept in it, shared by all hosts.
 */
export async function openDigest(
  database: Database,
  keys: StoreKeys | null,
): Promise<DigestAudited> {
  const fresh = encrypt(randomBytes(DIGEST_KEY_BYTES).toString('hex'), [DIGEST_KEY], keys);
  await database.transact((trx) =>
    trx
      .insertInto('store_secret')
      .values({ name: DIGEST_KEY, ...fresh })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute(),
  );
  return async (audited) => {
    if (audited === null) return null;
    if (!audited.sensitive) return digestWithoutBlocking({ json: audited.json, key: null });
    const stored = await database.query
      .selectFrom('store_secret')
      .select(['value', 'key_id'])
      .where('name', '=', DIGEST_KEY)
      .executeTakeFirstOrThrow();
    const key = Buffer.from(decrypt(stored, [DIGEST_KEY], keys), 'hex');
    return digestWithoutBlocking({ json: audited.json, key });
  };
}
