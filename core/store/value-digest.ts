import { createHash, createHmac } from 'node:crypto';
import canonicalize from 'canonicalize';

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
