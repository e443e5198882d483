import { randomBytes } from 'node:crypto';
import type { AuditedValue } from './audit-row.js';
import type { Database } from './database.js';
import { openText, sealText } from './encryption.js';
import type { StoreKeys } from './encryption-keys.js';
import { digestSecretly, digestValue } from './value-digest.js';

export const DIGEST_KEY = 'audit digest key';

const DIGEST_KEY_BYTES = 32;

/** Computes `value_digest`. @throws StoreUnavailable for a sensitive value when its key does not decrypt. */
export type DigestAudited = (audited: AuditedValue | null) => string | null;

/** The key for digests of sensitive values is made with the store and kept in it, the same for all hosts. */
export async function openDigest(
  database: Database,
  keys: StoreKeys | null,
): Promise<DigestAudited> {
  const fresh = sealText(randomBytes(DIGEST_KEY_BYTES).toString('hex'), [DIGEST_KEY], keys);
  const sealed = await database.transact(async (trx) => {
    await trx
      .insertInto('store_secret')
      .values({ name: DIGEST_KEY, ...fresh })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    return trx
      .selectFrom('store_secret')
      .select(['value', 'key_id'])
      .where('name', '=', DIGEST_KEY)
      .executeTakeFirstOrThrow();
  });
  return (audited) => {
    if (audited === null || audited.json === undefined) return null;
    if (!audited.sensitive) return digestValue(audited.json);
    const key = Buffer.from(openText(sealed, [DIGEST_KEY], keys), 'hex');
    return digestSecretly(audited.json, key);
  };
}
