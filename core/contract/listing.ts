/**
 * How a value is shown: `actor` is `{kind, id}`, `digest` is shortened to the digits that identify
 * it, `age` is the time since then, `names` is a list of texts, `ms` is a duration in milliseconds, `status` is one of HTTP.
 */
export type ColumnKind =
  | 'text'
  | 'code'
  | 'sentence'
  | 'time'
  | 'age'
  | 'state'
  | 'status'
  | 'actor'
  | 'digest'
  | 'names'
  | 'number'
  | 'ms';

/** How a member of an item is shown in a list. */
export interface Column {
  /** The heading; upper case on the command line. */
  readonly title: string;
  /** Default `text`. */
  readonly as?: ColumnKind;
  /** A member whose text follows the value, if both are present. */
  readonly detail?: string;
  /** Where it is a column. Default: on the command line and on pages. */
  readonly only?: 'command' | 'page';
  /** Whether the column is left out while no item has a value. Default false. */
  readonly isSparse?: boolean;
  /** Whether small screens omit it. Default false. */
  readonly isMinor?: boolean;
}

/** The columns of a list, in their order, by the name of the member or its path: `counts.calls`. */
export type Columns = Readonly<Record<string, Column>>;

/** A table of a response. */
export interface ListedTable {
  /** The heading of the table. */
  readonly title: string;
  /** The member of the response with the items. */
  readonly rows: string;
  /** The columns of the table. */
  readonly columns: Columns;
}

/** A route of the host that a page may call with the rights of its user. */
export interface HostResource {
  /** The upper-case method. */
  readonly method: string;
  /** The path with its parameters: `/releases/:id`. */
  readonly path: string;
  /** The scope that it requires; `null` if it is open to every authenticated caller. */
  readonly scope: string | null;
  /** Whether only users may call it. */
  readonly isForUsers: boolean;
  /** The name of a page of its own in the navigation; `null` without one. */
  readonly page: string | null;
  /** How its items are listed; empty for a route that answers no list. */
  readonly tables: readonly ListedTable[];
}
