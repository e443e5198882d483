import { createHash, createHmac, randomBytes } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { AuditedValue } from './audit-row.js';
import type { Database } from './database.js';
import { decrypt, encrypt } from './encryption.js';
import type { StoreKeys } from './encryption-keys.js';

/** Anybody who knows the value can compute it. */
export function digestValue(value: unknown): string {
  return `sha256:${createHash('sha256').update(toCanonical(value)).digest('hex')}`;
}

/** For sensitive values: a digest without a key would tell a short one to whoever tries them all. */
export function digestSecretly(value: unknown, key: Buffer): string {
  return `hmac-sha256:${createHmac('sha256', key).update(toCanonical(value)).digest('hex')}`;
}

function toCanonical(value: unknown): string {
  const text = JSON.stringify(value);
  return canonicalize(JSON.parse(replaceLoneSurrogates(text))) ?? '';
}

const ESCAPE = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/** JSON allows half of a surrogate pair and JSON.stringify escapes it; RFC 8785 has no form for it. */
function replaceLoneSurrogates(json: string): string {
  return json.replace(ESCAPE, (match) => (match.startsWith('\\ud') ? '\\ufffd' : match));
}

export const DIGEST_KEY = 'audit digest key';

const DIGEST_KEY_BYTES = 32;

/** Computes `value_digest`. @throws StoreUnavailable for a sensitive value when its key does not decrypt. */
export type DigestAudited = (audited: AuditedValue | null) => string | null;

/** The key for digests of sensitive values is made with the store and kept in it, the same for all hosts. */
export async function openDigest(
  database: Database,
  keys: StoreKeys | null,
): Promise<DigestAudited> {
  const fresh = encrypt(randomBytes(DIGEST_KEY_BYTES).toString('hex'), [DIGEST_KEY], keys);
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
    const key = Buffer.from(decrypt(sealed, [DIGEST_KEY], keys), 'hex');
    return digestSecretly(audited.json, key);
  };
}
