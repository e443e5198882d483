import type { AuditRow } from '../contract/audit-row.js';
import type { Log } from '../contract/index.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { settleWithin } from '../lib/promises.js';
import { createLogInterval } from '../log/log-interval.js';
import { createApprovalStore } from './approvals.js';
import { openDigest } from './audit-digest.js';
import {
  type AuditFilter,
  type AuditVerification,
  appendAuditRow,
  readAuditRows,
  rewriteAuditHead,
  verifyAuditRows,
} from './audit-log.js';
import type { AuditDraft } from './audit-row.js';
import {
  type CallBounds,
  type CallFilter,
  findCallCuts,
  insertCalls,
  removeCalls,
  type StoredCall,
  selectCalls,
} from './call-log.js';
import {
  type ConfigWrite,
  ensureStoredSecret,
  type GeneratedField,
  readStoredConfig,
  readStoredSecret,
  type StoredConfig,
  writeStoredValue,
} from './config-values.js';
import {
  type ChangeListener,
  type Database,
  type NoticeListener,
  type OpenedDatabase,
  RELEASE_CHANGE,
} from './database.js';
import type { StoreKeys } from './encryption-keys.js';
import { createFleetHostStore } from './fleet-hosts.js';
import { rotateKeys } from './reencrypt.js';
import { createReleaseStore } from './releases/release-store.js';
import type { Store, WriteAudit } from './store.js';
import { type StoreErrorCode, StoreUnavailable } from './store-unavailable.js';
import { createSurfaceRecordStore } from './surface-records.js';

export type OpenDatabase = (
  onChange: ChangeListener,
  onNotice: NoticeListener,
) => Promise<Database>;

interface ReconnectingStoreOptions {
  readonly open: OpenDatabase;
  readonly keys: StoreKeys | null;
  readonly log: Log;
  readonly maxOperations?: number;
}

const RETRY: BackoffBounds = { firstMs: 100, maxMs: 10_000 };

/** Errors after which the connection is unusable. After others, such as a full disk, it is kept. */
const ENDS_CONNECTION: ReadonlySet<StoreErrorCode> = new Set<StoreErrorCode>([
  'moved',
  'damaged',
  'disk_failed',
  'cannot_open',
  'unreachable',
  'denied',
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
 * A store over a database that may be unavailable: it is reopened with backoff. It is first opened when it is
 * first used: a host without config fields and consoles never opens one, and the start of a host does not wait
 * for it. Rejects operations beyond `maxOperations`, which a slow database would keep in memory.
 */
export class ReconnectingStore implements Store {
  readonly surfaceRecords = createSurfaceRecordStore((work) => this.#use(work));
  readonly fleetHosts = createFleetHostStore((work) => this.#use(work));
  readonly approvals = createApprovalStore((work) => this.#use(work));
  readonly releases = createReleaseStore(
    (work) => this.#use(work),
    () => this.#notify(RELEASE_CHANGE),
  );
  readonly #options: ReconnectingStoreOptions;
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

  constructor(options: ReconnectingStoreOptions) {
    this.#options = options;
  }

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

  readConfig(module: string, secrets: ReadonlySet<string> = new Set()): Promise<StoredConfig> {
    const { keys } = this.#options;
    return this.#use(({ query }) => readStoredConfig(query, module, secrets, keys));
  }

  async writeConfig(write: ConfigWrite, audit: WriteAudit): Promise<{ revision: number }> {
    const { module, value, sensitive } = write;
    const revision = await this.#use(async (database) => {
      const digest = await database.digest({ json: value, sensitive });
      const draft: AuditDraft = { ...audit, outcome: 'ok', value: null };
      return database.transact(async (trx) => {
        const next = await writeStoredValue(trx, write, this.#options.keys);
        await appendAuditRow(trx, draft, digest, database);
        await database.announce(trx, module);
        return next;
      });
    });
    this.#notify(module);
    return { revision };
  }

  ensureGenerated(field: GeneratedField): Promise<string> {
    const { keys } = this.#options;
    return this.#use(
      async (database) =>
        (await readStoredSecret(database.query, field, keys)) ??
        database.transact((trx) => ensureStoredSecret(trx, field, database, keys)),
    );
  }

  assertWritable(): Promise<void> {
    return this.#use((database) => database.transact((trx) => rewriteAuditHead(trx, database)));
  }

  appendAudit(draft: AuditDraft): Promise<AuditRow> {
    return this.#use(async (database) => {
      const digest = await database.digest(draft.value);
      return database.transact((trx) => appendAuditRow(trx, draft, digest, database));
    });
  }

  async *readAudit(filter: AuditFilter = {}): AsyncGenerator<AuditRow, void, undefined> {
    const rows = await this.#use(async ({ query }) => readAuditRows(query, filter));
    for (;;) {
      const next = await this.#use(() => rows.next());
      if (next.done) return;
      yield next.value;
    }
  }

  verifyAudit(): Promise<AuditVerification> {
    return this.#use(({ query }) => verifyAuditRows(query));
  }

  appendCalls(calls: readonly StoredCall[]): Promise<void> {
    return this.#use(({ transact }) => transact((trx) => insertCalls(trx, calls)));
  }

  readCalls(filter: CallFilter): Promise<StoredCall[]> {
    return this.#use(({ query }) => selectCalls(query, filter));
  }

  async pruneCalls(bounds: CallBounds): Promise<void> {
    const cuts = await this.#use(({ query }) => findCallCuts(query, bounds));
    const removeSome = ({ transact }: OpenedDatabase) => transact((trx) => removeCalls(trx, cuts));
    while (await this.#use(removeSome));
  }

  onConfigChange(listener: ChangeListener): () => void {
    const forwardChange: ChangeListener = (module) => listener(module);
    this.#listeners.add(forwardChange);
    void this.start();
    return () => this.#listeners.delete(forwardChange);
  }

  sendNotice(notice: string): Promise<void> {
    return this.#use((database) => database.sendNotice(notice));
  }

  onNotice(listener: NoticeListener): void {
    this.#noticeListeners.add(listener);
  }

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

  async #use<T>(work: (database: OpenedDatabase) => Promise<T>): Promise<T> {
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
      const database = await openWithKeys(
        this.#options,
        (module) => this.#notify(module),
        (notice) => this.#deliver(notice),
      );
      if (this.#isClosed) return await database.close();
      this.#database = database;
    } catch (error) {
      if (this.#isClosed) return;
      this.#report(toUnavailable(error));
      this.#openLater(attempt + 1);
      return;
    }
    if (this.#reason.code !== 'opening') this.#options.log.info({}, 'store available again');
    this.#reason = new StoreUnavailable('opening');
    this.#notify(null);
    this.#deliver(null);
  }

  #openLater(attempt: number): void {
    const delayMs = backoffMs(attempt, RETRY);
    this.#retry = setTimeout(() => void this.#open(attempt), delayMs).unref();
  }

  /** Logs each reason once, not each attempt. */
  #report(reason: StoreUnavailable): void {
    const isNew = reason.message !== this.#reason.message;
    this.#reason = reason;
    if (!isNew) return;
    const { cause } = reason;
    const fields = {
      code: reason.code,
      reason: reason.message,
      ...(cause === undefined ? {} : { err: cause }),
    };
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

  #notify(module: string | null): void {
    for (const listener of this.#listeners) {
      try {
        listener(module);
      } catch (error) {
        this.#options.log.error({ err: error }, 'config change listener failed');
      }
    }
  }
}

async function openWithKeys(
  { open, keys, log }: ReconnectingStoreOptions,
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

function toUnavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  return new StoreUnavailable('failed', { cause: error });
}
