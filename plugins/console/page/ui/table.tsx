import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface Column<Row> {
  readonly id: string;
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Makes the column sortable. */
  readonly sortBy?: (row: Row) => string | number;
  readonly isNumber?: boolean;
  /** Whether cells are sentences, which wrap. Other cells have one line. */
  readonly isText?: boolean;
  /** Whether small screens omit the column: the opened row contains it too. */
  readonly isMinor?: boolean;
}

export interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly sort?: { readonly by: string; readonly isDescending: boolean } | undefined;
  readonly onSort?: (by: string) => void;
}

/** A longer table renders only the visible rows. */
const VIRTUAL_FROM = 200;
/** The height of a row with one line. */
const ROW_PX = 41;
const MARGIN_ROWS = 20;

/** A table that stays responsive with 10,000 rows. */
export function Table<Row>({ caption, columns, rows, keyOf, sort, onSort }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const isVirtual = rows.length > VIRTUAL_FROM;
  const { from, to, rowPx } = useVisibleRows(body, rows.length, isVirtual);
  const renderedRows = isVirtual ? rows.slice(from, to) : rows;
  return (
    <section class="table-box" aria-label={caption} tabIndex={0}>
      <table aria-rowcount={rows.length + 1}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ id, head, sortBy, isNumber, isMinor }) => (
              <th
                key={id}
                scope="col"
                class={classOf({ isNumber, isMinor })}
                {...(sort?.by === id && {
                  'aria-sort': sort.isDescending ? 'descending' : 'ascending',
                })}
              >
                {sortBy && onSort ? (
                  <button type="button" class="sort" onClick={() => onSort(id)}>
                    {head}
                    <span aria-hidden="true">
                      {sort?.by === id ? (sort.isDescending ? ' ↓' : ' ↑') : ''}
                    </span>
                  </button>
                ) : (
                  head
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {isVirtual && from > 0 && <Spacer px={from * rowPx} columns={columns.length} />}
          {renderedRows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ cell, ...column }) => (
                <td key={column.id} class={classOf(column)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {isVirtual && to < rows.length && (
            <Spacer px={(rows.length - to) * rowPx} columns={columns.length} />
          )}
        </tbody>
      </table>
    </section>
  );
}

function classOf(column: { isNumber?: unknown; isText?: unknown; isMinor?: unknown }): string {
  return [column.isNumber ? 'number' : column.isText && 'text', column.isMinor && 'minor']
    .filter(Boolean)
    .join(' ');
}

/** Keeps the height of rows that are not rendered. The policy allows styles that a script sets. */
function Spacer({ px, columns }: { px: number; columns: number }) {
  return (
    <tr class="spacer" style={{ height: `${px}px` }}>
      <td colSpan={columns} />
    </tr>
  );
}

/** `rowPx` is the mean height of the first displayed rows: texts may have several lines. */
function useVisibleRows(body: { current: HTMLElement | null }, count: number, isOn: boolean) {
  const [[from, to], setRange] = useState<[number, number]>([0, VIRTUAL_FROM]);
  const [rowPx, setRowPx] = useState(ROW_PX);
  useLayoutEffect(() => {
    if (!isOn) return;
    const rows = [...(body.current?.querySelectorAll('tr:not(.spacer)') ?? [])];
    const heights = rows.map((row) => row.getBoundingClientRect().height);
    const mean = heights.reduce((sum, height) => sum + height, 0) / heights.length;
    if (mean > 0) setRowPx(mean);
  }, [isOn, count]);
  useEffect(() => {
    if (!isOn) return;
    const update = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowPx) - MARGIN_ROWS);
      const visible = Math.ceil(innerHeight / rowPx) + 2 * MARGIN_ROWS;
      setRange(([before, end]) =>
        before === first && end === first + visible ? [before, end] : [first, first + visible],
      );
    };
    update();
    addEventListener('scroll', update, { passive: true });
    addEventListener('resize', update);
    return () => {
      removeEventListener('scroll', update);
      removeEventListener('resize', update);
    };
  }, [isOn, count, rowPx]);
  return { from, to: Math.min(to, count), rowPx };
}
