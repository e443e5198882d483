import { hash, randomBytes } from 'node:crypto';
import type { ActorKind } from '../../contract/index.js';
import { ConfigError } from '../../errors.js';

/** An entry of the tokens file, in its own words (contract 3). */
export interface TokenFileEntry {
  readonly id: string;
  readonly kind: ActorKind;
  readonly scopes: readonly string[];
  readonly sha256: string;
  readonly expires_at?: string;
}

/** Tells scanners of secrets what they have found. */
const PREFIX = 'mgt_';
/** As many as a guess must not find in the lifetime of the universe: 256 bits. */
const TOKEN_BYTES = 32;

export function createToken(): { readonly token: string; readonly sha256: string } {
  const token = PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, sha256: hash('sha256', token) };
}

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const AGE = /^([1-9]\d{0,4})([mhd])$/;

/**
 * `90d`, `12h`, `30m`, a time with its zone, or `never` as what the file says; `undefined` for never.
 * @throws ConfigError
 */
export function parseExpiry(text: string, now: number): string | undefined {
  if (text === 'never') return undefined;
  const [, number, unit = ''] = AGE.exec(text) ?? [];
  const at = number === undefined ? parseTime(text) : now + Number(number) * (UNITS_MS[unit] ?? 0);
  if (at > now) return `${new Date(at).toISOString().slice(0, 19)}Z`;
  throw new ConfigError(
    '--expires must be an age such as 90d, 12h or 30m, a time to come such as 2030-06-30T00:00:00Z, or never',
  );
}

function parseTime(text: string): number {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)$/.test(text);
  return isTime ? Date.parse(text) : Number.NaN;
}
