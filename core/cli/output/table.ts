const GAP = '  ';

export interface TableColumn {
  readonly title: string;
  /** Default left. */
  readonly align?: 'left' | 'right';
}

/** @returns aligned lines without trailing spaces, the titles first. */
export function formatTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
): string[] {
  const lines = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, index) =>
    lines.reduce((width, line) => Math.max(width, line[index]?.length ?? 0), 0),
  );
  return lines.map((line) =>
    columns
      .map(({ align }, index) => {
        const width = widths[index] ?? 0;
        const cell = line[index] ?? '';
        return align === 'right' ? cell.padStart(width) : cell.padEnd(width);
      })
      .join(GAP)
      .trimEnd(),
  );
}
