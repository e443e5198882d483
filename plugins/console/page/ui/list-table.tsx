import type { ComponentChildren } from 'preact';
import type { Column as ListedColumn, ListedTable } from '../../../../core/contract/listing.js';
import { escapeLine } from '../../../../core/contract/visible-text.js';
import { findResource } from '../api.js';
import { RelativeTime, State, Status } from './parts.js';
import { type Column, Table, type TableProps } from './table.js';

const NOTHING = '–';

interface ListTableProps<Row> {
  readonly of: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The heading. Default: that of the list. */
  readonly caption?: string;
  /** Cells that do not follow from their member. */
  readonly cells?: Readonly<Record<string, (row: Row) => ComponentChildren>>;
  /** Columns that do not follow from a member. */
  readonly more?: readonly Column<Row>[];
  readonly sort?: TableProps<Row>['sort'];
  /** Makes the columns sortable; the rows are sorted by {@link sortRows}. */
  readonly onSort?: (by: string) => void;
}

/** Shows the items of a list of the host, with the columns that the list declares. */
export function ListTable<Row extends object>({ of, ...props }: ListTableProps<Row>) {
  const [table] = findResource(of)?.tables ?? [];
  return table === undefined ? null : <ShownTable table={table} {...props} />;
}

export function ShownTable<Row extends object>({
  table,
  rows,
  keyOf,
  caption = table.title,
  cells = {},
  more = [],
  ...sorting
}: Omit<ListTableProps<Row>, 'of'> & { readonly table: ListedTable }) {
  const columns = Object.entries(table.columns).flatMap(([member, column]): Column<Row>[] => {
    const read = (row: Row) => readMember(row, member);
    if (column.only === 'command') return [];
    if (column.isSparse && !rows.some((row) => !isNothing(read(row)))) return [];
    const cell = cells[member] ?? ((row: Row) => showMember(row, member, column));
    return [toColumn(member, column, cell)];
  });
  return (
    <Table
      caption={caption}
      rows={rows}
      keyOf={keyOf}
      columns={[...columns, ...more]}
      {...sorting}
    />
  );
}

function toColumn<Row>(
  id: string,
  { title, as, isMinor = false }: ListedColumn,
  cell: (row: Row) => ComponentChildren,
): Column<Row> {
  const isNumber = as === 'number' || as === 'ms';
  const isText = as === 'sentence' || as === 'names';
  return { id, head: title, cell, isNumber, isText, isMinor, sortBy: (row) => keyIn(row, id) };
}

/** Sorts by a member, or by its path. */
export function sortRows<Row>(rows: readonly Row[], by: string, isDescending: boolean): Row[] {
  const sign = isDescending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [keyIn(a, by), keyIn(b, by)];
    return x === y ? 0 : x < y ? -sign : sign;
  });
}

/** Rows without the member are the last. */
function keyIn(row: unknown, path: string): string | number {
  const value = readMember(row, path);
  return typeof value === 'number' ? value : String(value ?? '\uffff');
}

function readMember(row: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce((value, name) => (value as Readonly<Record<string, unknown>> | null)?.[name], row);
}

function isNothing(value: unknown): boolean {
  return value == null || value === '' || (Array.isArray(value) && value.length === 0);
}

function showMember(row: object, member: string, { as, detail }: ListedColumn) {
  const value = readMember(row, member);
  const more = detail === undefined ? null : readMember(row, detail);
  if (isNothing(value)) return NOTHING;
  const shown = showValue(value, as);
  return isNothing(more) ? shown : [shown, ': ', String(more)];
}

function showValue(value: unknown, as: ListedColumn['as']): ComponentChildren {
  switch (as) {
    case 'actor': {
      const { kind, id } = value as { readonly kind: string; readonly id: string };
      return escapeLine(`${kind}:${id}`);
    }
    case 'code':
      return <code>{String(value)}</code>;
    case 'digest':
      return <code>{shortenDigest(String(value))}</code>;
    case 'ms':
      return `${Number(value).toFixed(1)} ms`;
    case 'names':
      return (value as readonly string[]).join(', ');
    case 'number':
      return Number(value).toLocaleString('en');
    case 'state':
      return <State value={String(value)} />;
    case 'status':
      return <Status value={Number(value)} />;
    case 'age':
    case 'time':
      return <RelativeTime at={String(value)} />;
    default:
      return escapeLine(String(value));
  }
}

/** The first 12 of 64 digits identify a digest, as in git. */
export function shortenDigest(digest: string): string {
  return digest.replace(/^sha256:([0-9a-f]{12})[0-9a-f]*$/, '$1');
}
