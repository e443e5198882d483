import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from 'kysely';
import type { Database as Libsql } from 'libsql';

/**
 * Kysely's SQLite dialect over libsql. `requireIntact` is called before each use and throws when the file
 * has been replaced.
 */
export function createLibsqlDialect(database: Libsql, requireIntact: () => void): Dialect {
  return {
    createDriver: () => new LibsqlDriver(database, requireIntact),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (query) => new SqliteIntrospector(query),
  };
}

class LibsqlDriver extends SqliteDriver {
  readonly #database: Libsql;
  readonly #requireIntact: () => void;

  constructor(database: Libsql, requireIntact: () => void) {
    super({ database: reuseStatements(database) });
    this.#database = database;
    this.#requireIntact = requireIntact;
  }

  override acquireConnection(): Promise<DatabaseConnection> {
    this.#requireIntact();
    return super.acquireConnection();
  }

  /**
   * Takes the write lock at once: later it could fail half-way. By `exec`, since in libsql 0.5 a prepared
   * `begin` that finds the database locked stays active and makes later commits fail. Yields to the event
   * loop first: everything that follows is synchronous, and so would be a queue of writes.
   */
  override async beginTransaction(): Promise<void> {
    await nextTurn();
    this.#database.exec('begin immediate');
  }

  override async commitTransaction(): Promise<void> {
    this.#database.exec('commit');
  }

  /** On a full disk SQLite has already rolled back, and there is no transaction. */
  override async rollbackTransaction(): Promise<void> {
    if (this.#database.inTransaction) this.#database.exec('rollback');
  }
}

/**
 * Prepares each statement once, which halves the time of a read by key, and a statement that ended in an
 * error is reset when it is used again. There are only the statements of this folder.
 */
function reuseStatements(database: Libsql): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  const prepare = (text: string): SqliteStatement => {
    const statement = checkParameters(database.prepare(text) as unknown as SqliteStatement);
    statements.set(text, statement);
    return statement;
  };
  return {
    prepare: (text) => statements.get(text) ?? prepare(text),
    close: () => {
      statements.clear();
      database.close();
    },
  };
}

function checkParameters(statement: SqliteStatement): SqliteStatement {
  return {
    reader: statement.reader,
    all: (parameters) => statement.all(requireBindable(parameters)),
    run: (parameters) => statement.run(requireBindable(parameters)),
    iterate: (parameters) => statement.iterate(requireBindable(parameters)),
  };
}

/** libsql 0.5 aborts the process for a boolean and truncates a string at a NUL. */
function requireBindable(parameters: readonly unknown[]): readonly unknown[] {
  for (const parameter of parameters) {
    const isCut = typeof parameter === 'string' && parameter.includes('\0');
    if (isCut || typeof parameter === 'boolean') {
      throw new TypeError('a parameter of a query must be text without NUL, a number or null');
    }
  }
  return parameters;
}
