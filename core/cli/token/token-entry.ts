import { hash, randomBytes } from 'node:crypto';
import type { ActorKind } from '../../contract/index.js';
import { ConfigError } from '../../errors.js';
import { parseTime } from '../../lib/parse-time.js';
import { parseDuration } from '../parse-duration.js';

export interface TokenFileEntry {
  readonly id: string;
  readonly kind: ActorKind;
  readonly scopes: readonly string[];
  readonly roles?: readonly string[];
  readonly sha256: string;
  readonly expires_at?: string;
}

/** The prefix that secret scanners recognize. */
const PREFIX = 'mgt_';
/** 256 bits cannot be guessed. */
const TOKEN_BYTES = 32;

export function generateToken(): { readonly token: string; readonly sha256: string } {
  const token = PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, sha256: hash('sha256', token) };
}

/** The end of the years that RFC 3339 can express. */
const MAX_TIME = Date.UTC(10_000, 0);

/**
 * Converts `90d`, `12h`, `30m`, a time with a zone or `never` to the value in the file; `undefined` for never.
 * @throws ConfigError for another text or a time in the past.
 */
export function parseExpiry(text: string, now: number): string | undefined {
  if (text === 'never') return undefined;
  const ms = parseDuration(text);
  const expiresAt = Number.isNaN(ms) ? parseTime(text) : now + ms;
  if (expiresAt > now && expiresAt < MAX_TIME)
    return `${new Date(expiresAt).toISOString().slice(0, 19)}Z`;
  throw new ConfigError(
    '--expires must be a duration such as 90d, 12h or 30m, a future time such as 2030-06-30T00:00:00Z, or never',
  );
}
