import pg from 'pg';
import { type ChangeListener, type NoticeListener, RELEASE_CHANGE } from './database.js';
import { assertWritable, type Pool, READ_ONLY, type SessionRow } from './postgres-connection.js';

/** Finds changes whose notification a pooler has dropped, and a dead connection; TCP takes hours. */
const POLL_MS = 1000;

/**
 * The prefix of a notification other than a config change, after the origin. No module has this
 * name.
 */
export const NOTICE = 'notice ';

interface ListenerOptions {
  readonly schema: string;
  readonly channel: string;
  /** The prefix of the notifications of this process. */
  readonly origin: string;
  /** Called for modules that were written to, perhaps by this process; `null` when the connection is back. */
  readonly onChange: ChangeListener;
  /** Called with notices of other processes; `null` when the connection is back. */
  readonly onNotice: NoticeListener;
}

interface ChangesRow extends SessionRow {
  /** The sum of the revisions of all modules. */
  readonly total: string;
  /** Changes with the releases of any fleet. */
  readonly releases: string;
}

/** Listens and polls on the connection of a pool, which connects again when it is lost. */
export class PostgresListener {
  readonly #options: ListenerOptions;
  #pool: Pool | null = null;
  #poll: NodeJS.Timeout | undefined;
  #known: ReadonlyMap<string, number> = new Map();
  #releases = '';
  /** Whether notifications may have been lost with a connection. */
  #hasLost = false;
  #isChecking = false;
  #isStale = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Prepares each new connection of the pool. */
  readonly attach = async (client: pg.PoolClient): Promise<void> => {
    this.#hasLost = this.#pool !== null;
    client.on('notification', ({ payload = '' }) => this.#receive(payload));
    client.on('end', () => this.#check());
    await client.query(`listen ${pg.escapeIdentifier(this.#options.channel)}`);
  };

  /**
   * @param pool a pool of one connection, which `attach` has prepared
   * @throws an error for `explainPostgresError` when the first connection fails.
   */
  async start(pool: Pool): Promise<void> {
    await this.#readChanges(pool, () => {});
    this.#pool = pool;
    this.#poll = setInterval(() => this.#check(), POLL_MS).unref();
  }

  close(): void {
    this.#pool = null;
    clearInterval(this.#poll);
  }

  #receive(payload: string): void {
    const { origin, onNotice, onChange } = this.#options;
    // Own writes have already been announced locally.
    if (payload.startsWith(origin)) return;
    const text = payload.slice(payload.indexOf(' ') + 1);
    if (text.startsWith(NOTICE)) onNotice(text.slice(NOTICE.length));
    else if (text === RELEASE_CHANGE) onChange(text);
    else this.#check();
  }

  /** Notifications arrive in bursts: one check serves all that came before it. */
  #check(): void {
    this.#isStale = true;
    // Never rejects.
    if (!this.#isChecking) void this.#compare();
  }

  async #compare(): Promise<void> {
    this.#isChecking = true;
    while (this.#isStale && this.#pool !== null) {
      this.#isStale = false;
      // The next poll connects again.
      await this.#readChanges(this.#pool, this.#options.onChange).catch(() => {});
    }
    this.#isChecking = false;
  }

  async #readChanges(pool: Pool, onChange: ChangeListener): Promise<void> {
    const connection = await pool.connect();
    let isUsable = false;
    try {
      const { rows: totals } = await connection.query<ChangesRow>(
        `select coalesce(sum(revision), 0)::text as total, ${READ_ONLY}, (
          select coalesce(string_agg(md5(concat_ws(' ', fleet, active, canary)), '' order by fleet), '')
          from ${this.#table('release_state')}
        ) as releases from ${this.#table('config_module')}`,
        [],
      );
      const [row] = totals;
      assertWritable(row);
      const releasesBefore = this.#releases;
      this.#releases = row?.releases ?? '';
      if (this.#releases !== releasesBefore) onChange(RELEASE_CHANGE);
      // Revisions only grow.
      const total = [...this.#known.values()].reduce((sum, revision) => sum + revision, 0);
      if (row?.total !== String(total)) {
        const before = this.#known;
        const { rows } = await connection.query<{ module: string; revision: number }>(
          `select module, revision from ${this.#table('config_module')}`,
          [],
        );
        this.#known = new Map(rows.map(({ module, revision }) => [module, revision]));
        for (const { module, revision } of rows) {
          if ((before.get(module) ?? 0) !== revision) onChange(module);
        }
      }
      isUsable = true;
    } finally {
      connection.release(!isUsable);
    }
    if (!this.#hasLost) return;
    this.#hasLost = false;
    this.#options.onChange(null);
    this.#options.onNotice(null);
  }

  #table(name: string): string {
    return `${pg.escapeIdentifier(this.#options.schema)}.${name}`;
  }
}
