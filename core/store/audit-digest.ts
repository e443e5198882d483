import { createHmac, randomBytes } from 'node:crypto';
import canonicalize from 'canonicalize';
import { digestText } from '../lib/hash.js';
import type { Database, DigestAudited } from './database.js';
import { decrypt, encrypt } from './encryption.js';
import type { StoreKeys } from './encryption-keys.js';

/** The digest without a key, which can be computed from the value. */
function digestValue(value: unknown): string {
  return digestText(toCanonical(value));
}

/**
 * Computes a keyed digest for sensitive values: without a key, a short value could be found from
 * its digest by trying all.
 */
function digestSecretly(value: unknown, key: Buffer): string {
  return `hmac-sha256:${createHmac('sha256', key).update(toCanonical(value)).digest('hex')}`;
}

function toCanonical(value: unknown): string {
  const text = JSON.stringify(value);
  return canonicalize(JSON.parse(replaceLoneSurrogates(text))) ?? '';
}

const ESCAPE = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/** JSON.stringify escapes lone surrogates; RFC 8785 has no form for them. */
function replaceLoneSurrogates(json: string): string {
  return json.replace(ESCAPE, (match) => (match.startsWith('\\ud') ? '\\ufffd' : match));
}

export const DIGEST_KEY = 'audit digest key';

const DIGEST_KEY_BYTES = 32;

/** The key for digests of sensitive values is created with the store and kept in it, shared by all hosts. */
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
    if (audited === null || audited.json === undefined) return null;
    if (!audited.sensitive) return digestValue(audited.json);
    const stored = await database.query
      .selectFrom('store_secret')
      .select(['value', 'key_id'])
      .where('name', '=', DIGEST_KEY)
      .executeTakeFirstOrThrow();
    const key = Buffer.from(decrypt(stored, [DIGEST_KEY], keys), 'hex');
    return digestSecretly(audited.json, key);
  };
}
