import { formatTable } from '../output/table.js';
import type { TokenFileEntry } from './token-entry.js';

const COLUMNS = ['ID', 'KIND', 'DIGEST', 'EXPIRES', 'SCOPES'].map((title) => ({ title }));
/** Enough digits to identify a token. */
export const SHORT_DIGEST = 12;

export function formatTokens(entries: readonly TokenFileEntry[], now: number): string {
  if (entries.length === 0) return 'no tokens\n';
  const rows = entries.map((entry) => [
    entry.id,
    entry.kind,
    entry.sha256.slice(0, SHORT_DIGEST),
    formatExpiry(entry, now),
    entry.scopes.join(' '),
  ]);
  return formatTable(COLUMNS, rows)
    .map((line) => `${line}\n`)
    .join('');
}

export function hasExpired({ expires_at: at }: TokenFileEntry, now: number): boolean {
  return at !== undefined && Date.parse(at) <= now;
}

function formatExpiry(entry: TokenFileEntry, now: number): string {
  if (entry.expires_at === undefined) return 'never';
  return hasExpired(entry, now) ? `expired ${entry.expires_at}` : entry.expires_at;
}
