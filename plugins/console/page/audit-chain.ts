import type { AuditRow } from '../../../core/contract/audit-row.js';
import { canonicalizeValue } from '../../../core/contract/canonical-value.js';

export interface ChainVerdict {
  readonly rows: number;
  /** The hash of the last row. */
  readonly head: string;
  /** The first error and its row; `null` if the chain is valid. */
  readonly fault: string | null;
}

const FIRST_PREVIOUS = '0'.repeat(64);

/**
 * Recomputes the hash of every row.
 * @param readPage returns rows after an id, oldest first; `null` if they cannot be read
 * @returns `null` if rows could not be read
 */
export async function verifyChain(
  readPage: (
    after: number | null,
  ) => Promise<{ rows: readonly AuditRow[]; next_after: number | null } | null>,
  onProgress: (rows: number) => void,
): Promise<ChainVerdict | null> {
  let rows = 0;
  let head = FIRST_PREVIOUS;
  let after: number | null = null;
  do {
    const page = await readPage(after);
    if (page === null) return null;
    for (const row of page.rows) {
      const fault = await findBreak(row, rows + 1, head);
      if (fault !== null) return { rows, head, fault };
      head = row.hash;
      rows += 1;
    }
    onProgress(rows);
    after = page.next_after;
  } while (after !== null);
  return { rows, head, fault: null };
}

async function findBreak(row: AuditRow, id: number, previous: string): Promise<string | null> {
  if (row.id !== id) return `Row ${id} is missing.`;
  if (row.prev !== previous) return `Row ${id} does not continue row ${id - 1}.`;
  const { hash, ...hashed } = row;
  const bytes = new TextEncoder().encode(canonicalizeValue(hashed));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex === hash ? null : `Row ${id} has been changed: its hash does not fit its content.`;
}
