import { createHmac } from 'node:crypto';
import { canonicalizeValue } from '../contract/canonical-value.js';
import { digestText } from '../lib/hash.js';

export interface DigestedValue {
  /** JSON, as text or in UTF-8. */
  readonly json: string | Uint8Array;
  /** Makes a keyed digest; `null` for one that can be computed from the value alone. */
  readonly key: Uint8Array | null;
}

/** Matches only what is replaced: a text of 1 MiB can have half a million other escapes. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** Computes the digest of the canonical form of a value. */
export function digestValue({ json, key }: DigestedValue): string {
  const text = typeof json === 'string' ? json : Buffer.from(json).toString('utf8');
  const canonical = toCanonical(JSON.parse(text));
  if (key === null) return digestText(canonical);
  return `hmac-sha256:${createHmac('sha256', key).update(canonical).digest('hex')}`;
}

/** JSON.stringify escapes lone surrogates; RFC 8785 has no form for them. */
function toCanonical(value: unknown): string {
  const text = canonicalizeValue(value);
  const replaced = text.replace(LONE_SURROGATE, '$1\\ufffd');
  // Other names may be in another order.
  return replaced === text ? text : canonicalizeValue(JSON.parse(replaced));
}
