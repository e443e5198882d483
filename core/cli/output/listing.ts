import type { Column } from '../../contract/listing.js';
import { shortenDigest } from '../../lib/short-digest.js';
import type { Listing } from '../../operations/listing.js';
import { toPrintable } from './escape.js';
import { formatTable } from './table.js';

const NOTHING = '-';
/** What is aligned to the right. */
const RIGHT: ReadonlySet<Column['as']> = new Set(['age', 'ms', 'number', 'status']);

/**
 * Formats a list as a table, with the lines below its items and below all.
 * @param now the time of the host, for ages. Milliseconds since 1970.
 */
export function formatListing<Page, Item>(
  listing: Listing<Page, Item>,
  page: Page,
  now: number = Date.now(),
): string {
  const items = listItems(listing, page).filter((item) => listing.select?.(item) ?? true);
  if (items.length === 0 && listing.empty !== undefined) return `${listing.empty}\n`;
  const columns = listColumns(listing, items);
  const titles = columns.map(([, { title, as }]) => {
    const heading = title.toUpperCase();
    return RIGHT.has(as) ? { right: heading } : heading;
  });
  const cells = items.map((item) => formatItem(listing, columns, item, page, now));
  const [head = '', ...rows] = formatTable(titles, cells);
  const lines = items.flatMap((item, index) => [
    rows[index] ?? '',
    ...(listing.linesOf?.(item, page) ?? []).map(toPrintable),
  ]);
  const after = (listing.linesAfter?.(page) ?? []).map(toPrintable);
  return `${[head, ...lines, ...after].join('\n')}\n`;
}

type ShownColumns = readonly (readonly [member: string, column: Column])[];

/** The cells of an item on the command line. */
export function formatItem<Page, Item>(
  { cell }: Listing<Page, Item>,
  columns: ShownColumns,
  item: Item,
  page: Page,
  now: number = Date.now(),
): string[] {
  return columns.map(
    ([member, column]) =>
      cell?.(member, item, page) ?? formatMember(item as object, member, column, now),
  );
}

/** The columns of the command line. */
export function listColumns<Item>(
  { columns }: Pick<Listing, 'columns'>,
  items: readonly Item[],
): ShownColumns {
  return Object.entries(columns).filter(
    ([member, column]) =>
      column.only !== 'page' &&
      (!column.isSparse ||
        items.some((item) => formatMember(item as object, member, column, 0) !== NOTHING)),
  );
}

function listItems<Page, Item>({ rows }: Listing<Page, Item>, page: Page): readonly Item[] {
  return (page as Readonly<Record<string, readonly Item[]>>)[rows] ?? [];
}

function formatMember(item: object, path: string, { as, detail }: Column, now: number): string {
  const value = readMember(item, path);
  const more = detail === undefined ? null : readMember(item, detail);
  if (value == null || value === '') return NOTHING;
  const text = as === 'age' ? formatAge(now - Date.parse(String(value))) : formatValue(value, as);
  return more == null ? text : `${text}: ${more}`;
}

function readMember(item: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce((value, name) => (value as Readonly<Record<string, unknown>> | null)?.[name], item);
}

function formatValue(value: unknown, as: Column['as']): string {
  switch (as) {
    case 'actor': {
      const { kind, id } = value as { readonly kind: string; readonly id: string };
      return `${kind}:${id}`;
    }
    case 'digest':
      return shortenDigest(String(value));
    case 'names':
      return (value as readonly string[]).join(' ') || NOTHING;
    case 'ms':
      return Number(value).toFixed(1);
    default:
      return String(value);
  }
}

const AGE_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** `12s`, `3m`, `5h` or `2d`, rounded down; `-` for NaN. */
function formatAge(ms: number): string {
  if (Number.isNaN(ms)) return '-';
  for (const [unit, unitMs] of AGE_UNITS) {
    if (ms >= unitMs) return `${Math.floor(ms / unitMs)}${unit}`;
  }
  return `${Math.max(0, Math.floor(ms / 1000))}s`;
}
