import { hash } from 'node:crypto';
import { readFileText } from '../config/read-file-text.js';
import type { Actor, Authenticator, Log } from '../contract/index.js';
import { formatFinding, InvalidFile } from '../host/finding.js';
import { MAX_TOKEN_LENGTH } from './grammar.js';
import { parseTokenFile, type TokenTable } from './token-file.js';
import { watchFile } from './watch-file.js';

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
  const first = await readFileText(file);
  let table = parseTokenFile(file, first);
  let seen = hash('sha256', first);
  const look = async () => {
    const read = await readContent(file, seen);
    if (read === null) return;
    seen = read.seen;
    if (read.table !== null) table = read.table;
    reportRead(read, options.log);
  };
  const watch = watchFile(file, look, options.pollMs);
  return {
    name: 'tokens',
    authenticate: ({ scheme, token }) => (scheme === 'bearer' ? findActor(table, token) : null),
    close: () => watch.close(),
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

interface ContentRead {
  /** What tells this content from another: a digest, or why there is none. */
  readonly seen: string;
  readonly file: string;
  /** `null` when it is bad. */
  readonly table: TokenTable | null;
  readonly refusal: InvalidFile | null;
}

/** `null` when the content is still the same. */
async function readContent(file: string, seen: string): Promise<ContentRead | null> {
  let now = 'unreadable';
  try {
    const text = await readFileText(file);
    now = hash('sha256', text);
    if (now === seen) return null;
    return { seen: now, file, table: parseTokenFile(file, text), refusal: null };
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    return now === seen ? null : { seen: now, file, table: null, refusal: error };
  }
}

function reportRead(read: ContentRead, log: Log): void {
  if (read.table !== null) {
    log.info({ file: read.file, tokens: read.table.size }, 'the tokens file was read again');
    return;
  }
  const reasons = read.refusal?.findings.map(formatFinding);
  log.error({ file: read.file, reasons }, 'the tokens file is bad; the last good one is kept');
}
