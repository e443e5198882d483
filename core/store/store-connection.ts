import type { Log } from '../contract/index.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { settleWithin } from '../lib/promises.js';
import { createLogInterval } from '../log/log-interval.js';
import { openDigest } from './audit-digest.js';
import type {
  ChangeListener,
  Database,
  NoticeListener,
  OpenedDatabase,
  PartContext,
} from './database.js';
import type { StoreKeys } from './encryption-keys.js';
import { rotateKeys } from './reencrypt.js';
import { type StoreErrorCode, StoreUnavailable } from './store-unavailable.js';

export type OpenDatabase = (
  onChange: ChangeListener,
  onNotice: NoticeListener,
) => Promise<Database>;

export interface StoreConnectionOptions {
  readonly open: OpenDatabase;
  readonly keys: StoreKeys | null;
  readonly log: Log;
  readonly maxOperations?: number;
}

/** With the timeout of a connection, a store that is back is open within 5 s. */
const RETRY: BackoffBounds = { firstMs: 100, maxMs: 2500 };

/** Errors after which the connection is unusable. After others, such as a full disk, it is kept. */
const ENDS_CONNECTION: ReadonlySet<StoreErrorCode> = new Set<StoreErrorCode>([
  'moved',
  'damaged',
  'disk_failed',
  'cannot_open',
  'unreachable',
  'read_only_server',
  'denied',
  'newer_schema',
]);

const WARN_INTERVAL_MS = 60_000;

/**
 * How long the first operations wait for a slow database. Later ones fail until it is open.
 * Milliseconds.
 */
const START_TIMEOUT_MS = 3000;

/**
 * The maximum number of unfinished operations: more than ten thousand modules need at the start of
 * a host.
 */
const MAX_OPERATIONS = 16_384;

/**
 * The database of a store, which may be unavailable: it is reopened with backoff. It is first opened when it is
 * first used: a host without config fields and consoles never opens one, and the start of a host does not wait
 * for it. Rejects operations beyond `maxOperations`, which a slow database would keep in memory.
 */
export class StoreConnection implements PartContext {
  readonly keys: StoreKeys | null;
  readonly #options: StoreConnectionOptions;
  readonly #listeners = new Set<ChangeListener>();
  readonly #noticeListeners = new Set<NoticeListener>();
  #database: OpenedDatabase | null = null;
  #reason = new StoreUnavailable('opening');
  #retry: NodeJS.Timeout | undefined;
  readonly #mayWarn = createLogInterval(WARN_INTERVAL_MS);
  #starting: Promise<void> | null = null;
  #isStarted = false;
  #operations = 0;
  #isClosed = false;

  constructor(options: StoreConnectionOptions) {
    this.#options = options;
    this.keys = options.keys;
  }

  /** The reason why the store is unavailable; `null` while it is available. */
  get unavailable(): StoreUnavailable | null {
    return this.#database === null && this.#isStarted ? this.#reason : null;
  }

  /** Resolves when the store is open, the first attempt has failed, or the time is over. Never throws. */
  start(timeoutMs: number = START_TIMEOUT_MS): Promise<void> {
    this.#starting ??= settleWithin(this.#open(1), timeoutMs).then(() => {
      this.#isStarted = true;
    });
    return this.#starting;
  }

  readonly use = async <T>(work: (database: OpenedDatabase) => Promise<T>): Promise<T> => {
    const { maxOperations = MAX_OPERATIONS } = this.#options;
    if (this.#operations >= maxOperations) throw new StoreUnavailable('busy');
    this.#operations += 1;
    try {
      if (!this.#isStarted && !this.#isClosed) await this.start();
      if (this.#database === null) throw this.#reason;
      return await this.#work(this.#database, work);
    } finally {
      this.#operations -= 1;
    }
  };

  readonly notify = (module: string | null): void => {
    for (const listener of this.#listeners) {
      try {
        listener(module);
      } catch (error) {
        this.#options.log.error({ err: error }, 'config change listener failed');
      }
    }
  };

  /**
   * Called after each write, of this host or another, and with `null` when the store was unavailable and any
   * value may have changed. May be called without a change.
   * @returns removes the listener
   */
  onConfigChange(listener: ChangeListener): () => void {
    const forwardChange: ChangeListener = (module) => listener(module);
    this.#listeners.add(forwardChange);
    void this.start();
    return () => this.#listeners.delete(forwardChange);
  }

  /**
   * Sends a notice to the other processes that share the store, on PostgreSQL; on SQLite nothing.
   * @param notice at most 7,900 bytes of UTF-8
   */
  sendNotice(notice: string): Promise<void> {
    return this.use((database) => database.sendNotice(notice));
  }

  /**
   * @param listener called with notices of other processes, and with `null` when the store was unavailable and some
   * may have been lost. It must not throw.
   */
  onNotice(listener: NoticeListener): void {
    this.#noticeListeners.add(listener);
  }

  /** Closes connections and timers; every later operation throws StoreUnavailable. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#retry);
    const database = this.#database;
    this.#database = null;
    this.#reason = new StoreUnavailable('closed');
    await database?.close();
    await this.#starting;
  }

  async #work<T>(
    database: OpenedDatabase,
    work: (database: OpenedDatabase) => Promise<T>,
  ): Promise<T> {
    try {
      return await work(database);
    } catch (error) {
      // Work that runs while the database is closed fails in other ways.
      const closing = this.#database === database ? null : this.#reason;
      const reason = database.explain(error) ?? closing;
      if (reason === null) throw error;
      if (ENDS_CONNECTION.has(reason.code)) this.#lose(database, reason);
      else if (closing === null) this.#reportFailed(reason);
      throw reason;
    }
  }

  #lose(database: OpenedDatabase, reason: StoreUnavailable): void {
    if (this.#database !== database) return;
    this.#database = null;
    // Never throws; pending work fails.
    void database.close();
    this.#report(reason);
    this.#openLater(1);
  }

  /** Never throws: a failure is retried later. */
  async #open(attempt: number): Promise<void> {
    try {
      const database = await openWithKeys(this.#options, this.notify, (notice) =>
        this.#deliver(notice),
      );
      if (this.#isClosed) return await database.close();
      this.#database = database;
    } catch (error) {
      if (this.#isClosed) return;
      const isKnown = error instanceof StoreUnavailable;
      this.#report(isKnown ? error : new StoreUnavailable('failed', { cause: error }));
      this.#openLater(attempt + 1);
      return;
    }
    if (this.#reason.code !== 'opening') this.#options.log.info({}, 'store available again');
    this.#reason = new StoreUnavailable('opening');
    this.notify(null);
    this.#deliver(null);
  }

  #openLater(attempt: number): void {
    const delayMs = backoffMs(attempt, RETRY);
    this.#retry = setTimeout(() => void this.#open(attempt), delayMs).unref();
  }

  /** Logs each reason once, not each attempt. */
  #report(reason: StoreUnavailable): void {
    const { code, message, cause } = reason;
    const isNew = message !== this.#reason.message;
    this.#reason = reason;
    if (!isNew) return;
    const fields = { code, reason: message, ...(cause !== undefined && { err: cause }) };
    this.#options.log.warn(fields, 'store unavailable: config operations respond with 503');
  }

  /**
   * Keeps the store open. A full disk may last for long, so at most one line a minute is logged.
   */
  #reportFailed({ code, message }: StoreUnavailable): void {
    if (this.#mayWarn())
      this.#options.log.warn({ code, reason: message }, 'store operation failed');
  }

  #deliver(notice: string | null): void {
    for (const listener of this.#noticeListeners) listener(notice);
  }
}

async function openWithKeys(
  { open, keys, log }: StoreConnectionOptions,
  onChange: ChangeListener,
  onNotice: NoticeListener,
): Promise<OpenedDatabase> {
  const database = await open(onChange, onNotice);
  try {
    const digest = await openDigest(database, keys);
    if (keys !== null) await rotateKeys(database, keys, log);
    return { ...database, digest };
  } catch (error) {
    await database.close();
    throw database.explain(error) ?? error;
  }
}
