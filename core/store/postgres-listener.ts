import pg from 'pg';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { settleWithin } from '../lib/promises.js';
import { type ChangeListener, type NoticeListener, RELEASE_CHANGE } from './database.js';
import {
  assertWritable,
  CLOSE_TIMEOUT_MS,
  connectionOptions,
  READ_ONLY,
  type SessionRow,
} from './postgres-connection.js';
import { rethrowConnectionLost } from './postgres-error.js';
import type { PostgresAddress } from './postgres-url.js';

const RECONNECT: BackoffBounds = { firstMs: 100, maxMs: 2500 };
/** Finds changes whose notification a pooler has dropped, and a dead connection; TCP takes hours. */
const POLL_MS = 1000;

/**
 * The prefix of a notification other than a config change, after the origin. No module has this
 * name.
 */
export const NOTICE = 'notice ';

interface ListenerOptions {
  readonly address: PostgresAddress;
  readonly channel: string;
  /** The prefix of the notifications of this process. */
  readonly origin: string;
  /** Called for modules that were written to, perhaps by this process; `null` when the connection is back. */
  readonly onChange: ChangeListener;
  /** Called with notices of other processes; `null` when the connection is back. */
  readonly onNotice: NoticeListener;
}

/** Listens and polls on a separate connection, and reconnects with backoff. */
export class PostgresListener {
  readonly #options: ListenerOptions;
  readonly #poll: NodeJS.Timeout;
  #client: pg.Client | null = null;
  #known: ReadonlyMap<string, number> = new Map();
  #retry: NodeJS.Timeout | undefined;
  #isChecking = false;
  #isStale = false;
  #isClosed = false;

  private constructor(options: ListenerOptions) {
    this.#options = options;
    this.#poll = setInterval(() => this.#check(), POLL_MS).unref();
  }

  /** @throws an error for `explainPostgresError` when the first connection fails. */
  static async open(options: ListenerOptions): Promise<PostgresListener> {
    const listener = new PostgresListener(options);
    try {
      await listener.#connect();
    } catch (error) {
      await listener.close();
      throw error;
    }
    return listener;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = null;
    if (client !== null) await settleWithin(client.end(), CLOSE_TIMEOUT_MS);
  }

  async #connect(): Promise<void> {
    const { address, channel, origin } = this.#options;
    const client = new pg.Client(connectionOptions(address.connectionString));
    // Without a listener, a connection error would end the process.
    client.on('error', () => {});
    client.on('notification', ({ payload = '' }) => {
      // Own writes have already been announced locally.
      if (payload.startsWith(origin)) return;
      const text = payload.slice(payload.indexOf(' ') + 1);
      if (text.startsWith(NOTICE)) this.#options.onNotice(text.slice(NOTICE.length));
      // Releases have no revision to compare.
      else if (text === RELEASE_CHANGE) this.#options.onChange(text);
      else this.#check();
    });
    try {
      await rethrowConnectionLost(client.connect());
      await rethrowConnectionLost(client.query(`listen ${pg.escapeIdentifier(channel)}`));
      this.#known = await this.#readRevisions(client);
    } catch (error) {
      void endClient(client);
      throw error;
    }
    if (this.#isClosed) return void endClient(client);
    this.#client = client;
    client.on('end', () => this.#reconnect(client));
  }

  #reconnect(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#retryAfter(1);
  }

  #retryAfter(attempt: number): void {
    if (this.#isClosed) return;
    const reconnect = async () => {
      try {
        await this.#connect();
      } catch {
        this.#retryAfter(attempt + 1);
        return;
      }
      if (this.#isClosed) return;
      this.#options.onChange(null);
      this.#options.onNotice(null);
    };
    this.#retry = setTimeout(() => void reconnect(), backoffMs(attempt, RECONNECT)).unref();
  }

  /** Notifications arrive in bursts: one check serves all that came before it. */
  #check(): void {
    this.#isStale = true;
    // Never rejects.
    if (!this.#isChecking) void this.#compare();
  }

  async #compare(): Promise<void> {
    this.#isChecking = true;
    while (this.#isStale) {
      this.#isStale = false;
      const client = this.#client;
      if (client === null) break;
      try {
        await this.#announceChanges(client);
      } catch {
        void endClient(client);
        this.#reconnect(client);
      }
    }
    this.#isChecking = false;
  }

  async #announceChanges(client: pg.Client): Promise<void> {
    const { rows } = await client.query<SessionRow & { total: string }>(
      `select coalesce(sum(revision), 0)::text as total, ${READ_ONLY} from ${this.#table}`,
    );
    assertWritable(rows[0]);
    // Revisions only grow.
    const total = [...this.#known.values()].reduce((sum, revision) => sum + revision, 0);
    if (rows[0]?.total === String(total)) return;
    const before = this.#known;
    this.#known = await this.#readRevisions(client);
    for (const [module, revision] of this.#known) {
      if ((before.get(module) ?? 0) !== revision) this.#options.onChange(module);
    }
  }

  async #readRevisions(client: pg.Client): Promise<ReadonlyMap<string, number>> {
    const read = client.query<{ module: string; revision: number }>(
      `select module, revision from ${this.#table}`,
    );
    const { rows } = await rethrowConnectionLost(read);
    return new Map(rows.map(({ module, revision }) => [module, revision]));
  }

  get #table(): string {
    return `${pg.escapeIdentifier(this.#options.address.schema)}.config_module`;
  }
}

/** Never rejects: the connection is not used any more. */
async function endClient(client: pg.Client): Promise<void> {
  try {
    await client.end();
  } catch {
    // The connection had already ended.
  }
}
