import type { Struct } from 'superstruct';
import type { Column, ListedTable } from '../contract/listing.js';

/** How a response with a list is read and shown. */
export interface Listing<Page = unknown, Item = unknown> extends ListedTable {
  /** Validates the response. */
  readonly struct: Struct<Page>;
  /** Other tables of the response, which pages show. */
  readonly more?: readonly ListedTable[];
  /** The name of its own page in the navigation of the console. Default: no such page. */
  readonly page?: string;
  /** The text that follows the options in the help of the command. */
  readonly help?: string;
  /** What the command prints without an item. Default: the headings. */
  readonly empty?: string;
  /** Whether the command line prints an item. Default: it prints all. */
  select?(item: Item): boolean;
  /** A cell of the command line that does not follow from the member; `undefined` for any other. */
  cell?(member: string, item: Item, page: Page): string | undefined;
  /** Lines that the command line prints below an item. */
  linesOf?(item: Item, page: Page): readonly string[];
  /** Lines that the command line prints below the table. */
  linesAfter?(page: Page): readonly string[];
}

type ItemOf<Page, Rows extends keyof Page> = Page[Rows] extends readonly (infer Item)[]
  ? Item
  : never;

/** By the name of a member, or of a member of one: `counts.calls`. */
type ColumnsOf<Item> = {
  readonly [Name in keyof Item | `${keyof Item & string}.${string}`]?: Column;
};

/** Declares a list by the struct of its response. */
export function defineListing<Page extends object, S, Rows extends keyof Page & string>(
  listing: Omit<Listing<Page, ItemOf<Page, Rows>>, 'struct' | 'rows' | 'columns'> & {
    readonly struct: Struct<Page, S>;
    readonly rows: Rows;
    readonly columns: ColumnsOf<ItemOf<Page, Rows>>;
  },
): Listing<Page, ItemOf<Page, Rows>> {
  return listing as unknown as Listing<Page, ItemOf<Page, Rows>>;
}

/** A list of any type. */
// biome-ignore lint/suspicious/noExplicitAny: its functions take what its struct accepts
export type AnyListing = Listing<any, any>;
