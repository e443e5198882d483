/**
 * A column of both databases. No booleans: libsql aborts the process for them. No `integer`: PostgreSQL
 * rejects a row with a number of more than 32 bits, such as the bytes of a long stream.
 */
export interface Column<Value> {
  readonly type: 'text' | 'bigint' | 'double precision';
  readonly isNullable?: true;
  /** `table.column` that has the value. */
  readonly references?: string;
  /** The version of the schema that added it. Default: that of its table. */
  readonly since?: number;
  /** The type of its values; never set. */
  readonly value?: Value;
}

interface Index {
  /** The columns, in SQL. */
  readonly on: string;
  /** The rows, in SQL. Default: all. */
  readonly where?: string;
  readonly isPostgresOnly?: true;
  /** The version of the schema that added it. Default: that of its table. */
  readonly since?: number;
}

/** A table; types of rows, both databases and upgrades derive from it. */
export interface Table {
  readonly columns: Readonly<Record<string, Column<unknown>>>;
  readonly primaryKey: readonly string[];
  /** By name. */
  readonly indexes?: Readonly<Record<string, Index>>;
  readonly rows?: readonly Readonly<Record<string, unknown>>[];
  /** The version of the schema that added it. Default: the first. */
  readonly since?: number;
}

export type RowsOf<Declared extends Readonly<Record<string, Table>>> = {
  readonly [Name in keyof Declared]: RowOf<Declared[Name]>;
};

export type RowOf<Declared extends Table> = {
  -readonly [Name in keyof Declared['columns']]: Declared['columns'][Name] extends Column<
    infer Value
  >
    ? Value
    : never;
};

export const TEXT: Column<string> = { type: 'text' };
export const TEXT_OR_NULL: Column<string | null> = { type: 'text', isNullable: true };
export const INTEGER: Column<number> = { type: 'bigint' };

/** Columns of text that need no further word. */
export function texts<Name extends string>(...names: Name[]): Record<Name, Column<string>> {
  return Object.fromEntries(names.map((name) => [name, TEXT])) as Record<Name, Column<string>>;
}

export const VERSION_TABLES = {
  schema_version: {
    columns: {
      version: INTEGER,
      applied_at: TEXT,
      /** The least version that a host must know; `null`: this one. */
      least_reader: { type: 'bigint', isNullable: true } as Column<number | null>,
    },
    primaryKey: ['version'],
  },
} satisfies Record<string, Table>;

/** The rows of all tables. The list of the parts adds theirs: parts cannot import it. */
export interface Tables extends RowsOf<typeof VERSION_TABLES> {}
