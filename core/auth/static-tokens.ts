import { hash } from 'node:crypto';
import type { AuthenticationResult, Authenticator, Credentials, Log } from '../contract/index.js';
import { openReloadedFile } from '../watch/reloaded-file.js';
import { MAX_TOKEN_LENGTH } from './actor-syntax.js';
import type { Rejected } from './checked-authenticator.js';
import { parseTokenFile, type TokenTable } from './token-file.js';

export interface TokensAuthenticator extends Authenticator {
  /** Stops watching the file; its tokens stay valid. */
  close(): Promise<void>;
}

interface TokensOptions {
  readonly log: Log;
  /** Another header that may hold a token, in lower case; `null` for `authorization` alone. */
  readonly tokenHeader?: string | null;
  /** The time between two checks of the file. Milliseconds, default 2000. */
  readonly pollMs?: number;
}

/**
 * Authenticates the tokens of a file, which is reloaded when it changes. A file that becomes
 * invalid or is deleted is logged once; the last good version stays in use.
 * @throws InvalidFile when the file is invalid or missing at startup.
 */
export async function openTokensAuthenticator(
  file: string,
  options: TokensOptions,
): Promise<TokensAuthenticator> {
  const reloaded = await openReloadedFile(file, {
    log: options.log,
    name: 'tokens file',
    parse: parseTokenFile,
    describe: ({ size }) => ({ tokens: size }),
    pollMs: options.pollMs,
  });
  const { tokenHeader = null } = options;
  return {
    name: 'tokens',
    reads: tokenHeader === null ? ['authorization'] : ['authorization', tokenHeader],
    authenticate: (credentials) => {
      const token = readToken(credentials, tokenHeader);
      return token === null ? null : findActor(reloaded.current, token);
    },
    close: () => reloaded.close(),
  };
}

/**
 * A request with two different tokens was rejected before. `headers` is not read, because that
 * would build a map of all headers.
 */
function readToken(credentials: Credentials, header: string | null): string | null {
  if (credentials.scheme === 'bearer') return credentials.token;
  return header === null ? null : (credentials.headers.get(header)?.[0] ?? null);
}

/**
 * The token is hashed before the lookup, so its timing reveals at most something about a digest. A caller
 * cannot approach a stored digest byte by byte without inverting SHA-256, and a digest is not a credential:
 * the Map is as safe as a constant-time comparison with every entry.
 */
function findActor(table: TokenTable, token: string): AuthenticationResult {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  // Node decodes headers as latin1: this is the digest of the bytes on the wire.
  const actor = table.get(hash('sha256', Buffer.from(token, 'latin1')));
  if (actor === undefined) return null;
  if (actor.expiresAt === undefined || Date.now() < actor.expiresAt) return actor;
  const expired: Rejected = { rejected: 'expired', token: actor.id, detail: null };
  return expired;
}
