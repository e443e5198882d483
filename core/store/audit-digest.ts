import { createHmac, randomBytes } from 'node:crypto';
import { digestText } from '../lib/hash.js';
import { canonicalizeValue } from '../lib/json/canonical-value.js';
import type { Database, DigestAudited } from './database.js';
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

/** Matches only what is replaced: a text of 1 MiB can have half a million other escapes. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** JSON.stringify escapes lone surrogates; RFC 8785 has no form for them. */
function toCanonical(value: unknown): string {
  const text = canonicalizeValue(value);
  const replaced = text.replace(LONE_SURROGATE, '$1\\ufffd');
  // Other names may be in another order.
  return replaced === text ? text : canonicalizeValue(JSON.parse(replaced));
}

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
    if (audited === null || audited.json === undefined) return null;
    const text = toCanonical(audited.json);
    if (!audited.sensitive) return digestText(text);
    const stored = await database.query
      .selectFrom('store_secret')
      .select(['value', 'key_id'])
      .where('name', '=', DIGEST_KEY)
      .executeTakeFirstOrThrow();
    const key = Buffer.from(decrypt(stored, [DIGEST_KEY], keys), 'hex');
    return `hmac-sha256:${createHmac('sha256', key).update(text).digest('hex')}`;
  };
}
