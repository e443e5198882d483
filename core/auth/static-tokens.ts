import { hash } from 'node:crypto';
import type { Actor, Authenticator, Log } from '../contract/index.js';
import { openReloadedFile } from '../watch/reloaded-file.js';
import { MAX_TOKEN_LENGTH } from './actor-syntax.js';
import { parseTokenFile, type TokenTable } from './token-file.js';

export interface TokensAuthenticator extends Authenticator {
  /** Ends the watch on the file; tokens go on being known. */
  close(): Promise<void>;
}

export interface TokensOptions {
  readonly log: Log;
  /** Between two looks at the file. Milliseconds, default 2000. */
  readonly pollMs?: number;
}

/**
 * Knows the tokens of a file (contract 3) and follows its changes. A file that turns bad, or vanishes, is
 * logged once and changes nothing: the last good one stays.
 * @throws InvalidFile when the file is bad, or missing, now.
 */
export async function openTokensAuthenticator(
  file: string,
  options: TokensOptions,
): Promise<TokensAuthenticator> {
  const followed = await openReloadedFile(file, {
    log: options.log,
    name: 'tokens file',
    parse: parseTokenFile,
    describe: ({ size }) => ({ tokens: size }),
    pollMs: options.pollMs,
  });
  return {
    name: 'tokens',
    authenticate: ({ scheme, token }) =>
      scheme === 'bearer' ? findActor(followed.current, token) : null,
    close: () => followed.close(),
  };
}

/**
 * The token is hashed before anything is compared, so the time of the look-up tells at most something of
 * a digest. Nobody can steer towards a stored digest byte by byte without inverting SHA-256, nor is a
 * digest a credential: the Map is as safe as a constant-time comparison with every entry, and does not
 * grow with them. The hash takes 1 µs.
 */
function findActor(table: TokenTable, token: string): Actor | null {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  // What Node reads from a header is latin1: hashed as such, the digest is that of the bytes on the wire.
  const entry = table.get(hash('sha256', Buffer.from(token, 'latin1')));
  if (entry === undefined) return null;
  return entry.expiresAt === null || Date.now() < entry.expiresAt ? entry.actor : null;
}
