import { toPrintable } from './escape.js';

const GAP = '  ';

/** The title of a column, aligned to the left by default. */
export type TableColumn = string | { readonly right: string };

/** Escapes the cells, which others may have written. @returns aligned lines without trailing spaces, the titles first. */
export function formatTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
): string[] {
  const titles = columns.map((column) => (typeof column === 'string' ? column : column.right));
  const lines = [titles, ...rows.map((row) => row.map(toPrintable))];
  const widths = columns.map((_, index) =>
    lines.reduce((width, line) => Math.max(width, line[index]?.length ?? 0), 0),
  );
  return lines.map((line) =>
    columns
      .map((column, index) => {
        const width = widths[index] ?? 0;
        const cell = line[index] ?? '';
        return typeof column === 'string' ? cell.padEnd(width) : cell.padStart(width);
      })
      .join(GAP)
      .trimEnd(),
  );
}
