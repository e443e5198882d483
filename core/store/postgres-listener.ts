import pg from 'pg';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { settleWithin } from '../lib/promises.js';
import { CLOSE_TIMEOUT_MS, connectionOptions } from './postgres-connection.js';
import { orLost } from './postgres-error.js';

const RECONNECT: BackoffBounds = { firstMs: 100, maxMs: 5000 };
// Detects a dead connection; TCP takes hours.
const HEARTBEAT_MS = 10_000;

interface ListenerOptions {
  readonly connectionString: string;
  readonly channel: string;
  onNotification(payload: string): void;
  /** The connection is back; notifications in between were lost. */
  onGap(): void;
}

/** Listens on a separate connection and reconnects with backoff. */
export class PostgresListener {
  readonly #options: ListenerOptions;
  readonly #heartbeat: NodeJS.Timeout;
  #client: pg.Client | null = null;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  private constructor(options: ListenerOptions) {
    this.#options = options;
    // Never rejects.
    this.#heartbeat = setInterval(() => void this.#beat(), HEARTBEAT_MS).unref();
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
    clearInterval(this.#heartbeat);
    clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = null;
    if (client !== null) await settleWithin(client.end(), CLOSE_TIMEOUT_MS);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(connectionOptions(this.#options.connectionString));
    // Without a listener, a connection error would end the process.
    client.on('error', () => {});
    client.on('notification', ({ payload = '' }) => this.#options.onNotification(payload));
    try {
      await orLost(client.connect());
      await orLost(client.query(`listen ${pg.escapeIdentifier(this.#options.channel)}`));
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
    const again = async () => {
      try {
        await this.#connect();
      } catch {
        this.#retryAfter(attempt + 1);
        return;
      }
      if (!this.#isClosed) this.#options.onGap();
    };
    this.#retry = setTimeout(() => void again(), backoffMs(attempt, RECONNECT)).unref();
  }

  async #beat(): Promise<void> {
    const client = this.#client;
    if (client === null) return;
    try {
      await client.query('select 1');
    } catch {
      void endClient(client);
      this.#reconnect(client);
    }
  }
}

/** Never rejects: the connection is not used any more. */
async function endClient(client: pg.Client): Promise<void> {
  try {
    await client.end();
  } catch {
    // It had ended.
  }
}
