import { hash, randomBytes } from 'node:crypto';
import type { ActorKind } from '../../contract/index.js';
import { ConfigError } from '../../errors.js';

/** An entry of the tokens file, with its field names. */
export interface TokenFileEntry {
  readonly id: string;
  readonly kind: ActorKind;
  readonly scopes: readonly string[];
  readonly sha256: string;
  readonly expires_at?: string;
}

/** Recognized by secret scanners. */
const PREFIX = 'mgt_';
/** 256 bits cannot be guessed. */
const TOKEN_BYTES = 32;

export function createToken(): { readonly token: string; readonly sha256: string } {
  const token = PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, sha256: hash('sha256', token) };
}

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const AGE = /^([1-9]\d{0,4})([mhd])$/;

/**
 * Converts `90d`, `12h`, `30m`, a time with a zone or `never` to the value in the file; `undefined` for never.
 * @throws ConfigError for another text or a time in the past.
 */
export function parseExpiry(text: string, now: number): string | undefined {
  if (text === 'never') return undefined;
  const [, number, unit = ''] = AGE.exec(text) ?? [];
  const at = number === undefined ? parseTime(text) : now + Number(number) * (UNITS_MS[unit] ?? 0);
  if (at > now) return `${new Date(at).toISOString().slice(0, 19)}Z`;
  throw new ConfigError(
    '--expires must be a duration such as 90d, 12h or 30m, a future time such as 2030-06-30T00:00:00Z, or never',
  );
}

function parseTime(text: string): number {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)$/.test(text);
  return isTime ? Date.parse(text) : Number.NaN;
}
