import cluster from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import { ConfigError } from '../errors.js';
import type { Logger } from '../log/logger.js';
import { WorkerQueries } from './fan-out.js';
import type { HostPhase, PrimaryMessage, ServeSettings, WorkerMessage } from './messages.js';
import { RestartBackoff } from './restart-backoff.js';
import { RetiredMetrics } from './retired-metrics.js';
import type { StatusLedger } from './status-ledger.js';
import { type WorkerEnd, WorkerHandle, type WorkerStage } from './worker-handle.js';

/** How many may die before any has served until the host gives up. */
const MAX_EXITS_AT_START = 5;
/** A worker that has not read its modules by then never will. Milliseconds. */
const START_TIMEOUT_MS = 60_000;
/** How long the start waits for the others once one serves. Milliseconds. */
const START_GRACE_MS = 10_000;
/** How long a new worker may take to serve what the others serve. Milliseconds. */
const CATCH_UP_MS = 10_000;
const CATCH_UP_POLL_MS = 25;
/** What a worker may need beyond its drain, to close what it holds. Milliseconds. */
const CLOSE_MS = 5000;

type MessageHandlers = {
  readonly [Type in WorkerMessage['type']]: (
    message: Extract<WorkerMessage, { type: Type }>,
    from: WorkerHandle,
  ) => void;
};

type MessageHandler = (message: WorkerMessage, from: WorkerHandle) => void;

/** No worker came up. */
export class StartFailure extends Error {}

export interface SupervisorOptions {
  readonly settings: ServeSettings;
  readonly count: number;
  readonly books: StatusLedger;
  readonly log: Logger;
}

/**
 * The primary of a host of several processes: starts the workers, replaces those that die, and is what they
 * know of each other. It serves no request and runs no module, so there is little that could end it.
 */
export class Supervisor {
  readonly #settings: ServeSettings;
  readonly #count: number;
  readonly #books: StatusLedger;
  readonly #log: Logger;
  readonly #workers = new Map<number, WorkerHandle>();
  readonly #departed = new RetiredMetrics();
  readonly #desk: WorkerQueries;
  readonly #pace = new RestartBackoff();
  #onStart: { resolve(url: string): void; reject(error: Error): void } | null = null;
  #phase: HostPhase = 'starting';
  /** One more than `#count` while a worker is being replaced. */
  #target: number;
  #url: string | null = null;
  #boundPort: number | null = null;
  /** What workers are told to listen on: those told the same share one socket. */
  #port: number;
  #leader: WorkerHandle | null = null;
  #startDeaths = 0;
  #filling: NodeJS.Timeout | undefined;
  #opening: NodeJS.Timeout | undefined;
  #isRestarting = false;
  readonly #handlers: MessageHandlers = {
    hello: (_message, from) => this.#begin(from),
    misconfigured: ({ message }, from) => {
      from.misconfiguration = message;
    },
    // It catches nothing since nothing in it throws.
    ready: (_message, from) => void this.#admit(from),
    listening: (message, from) => this.#welcome(from, message),
    status: ({ status }, from) => this.#books.note(from.id, status),
    removed: ({ file }, from) => this.#books.noteRemoved(from.id, file),
    files: ({ files }) => this.#books.clean(files),
    'last-good': ({ file, lastGood }) => this.#books.keepLastGood(file, lastGood),
    ask: ({ id, subject, input }, from) => void this.#desk.answer(from, id, subject, input),
    told: ({ id, told }, from) => this.#desk.gathering.take(from, id, told),
    probation: (message, from) => this.#broadcast({ ...message, worker: from.id }, from),
    rejected: (message, from) => void this.#passOnRejection(message, from),
    farewell: ({ metrics }, from) => {
      from.hasSentFinalMetrics = true;
      this.#departed.note(from.id, metrics);
    },
  };

  constructor({ settings, count, books, log }: SupervisorOptions) {
    this.#settings = settings;
    this.#count = count;
    this.#target = count;
    this.#books = books;
    this.#log = log;
    this.#port = settings.config.port;
    const list = (...stages: readonly WorkerStage[]) => this.#list(...stages);
    this.#desk = new WorkerQueries({ books, departed: this.#departed, list });
  }

  /**
   * Starts the workers; resolves with the URL when all of them serve, or the patience with some is over.
   * @throws ConfigError for what ops have to put right; StartFailure when none comes up.
   */
  start(): Promise<string> {
    // A worker accepts from the primary's queue: the kernel would give most to one of them.
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ serialization: 'advanced' });
    return new Promise((resolve, reject) => {
      this.#onStart = { resolve, reject };
      this.#fill();
    });
  }

  /** Has every worker read every file again. */
  rescan(): void {
    this.#broadcast({ type: 'rescan' });
  }

  /** Replaces one worker after the other: callers notice nothing. Given up when a new one does not come up. */
  async restart(): Promise<void> {
    if (this.#phase !== 'serving' || this.#isRestarting) {
      this.#log.warn({}, 'the host is starting, restarting or draining: it does not restart');
      return;
    }
    this.#isRestarting = true;
    this.#log.info({}, 'restarting');
    const isDone = await this.#replaceAll(this.#list('serving'));
    this.#isRestarting = false;
    if (isDone) this.#log.info({}, 'restarted');
    else if (this.#phase === 'serving') {
      this.#log.error({}, 'the restart was given up: a new worker did not come up');
    }
  }

  /** Drains all workers; resolves when they have ended. */
  async drain(): Promise<void> {
    this.#setPhase('draining');
    clearTimeout(this.#filling);
    clearTimeout(this.#opening);
    for (const worker of this.#list('starting')) worker.kill();
    for (const worker of this.#list('serving')) {
      worker.stage = 'leaving';
      worker.send({ type: 'drain', isReplaced: false });
    }
    const { drainDelayMs, drainMs } = this.#settings.config;
    const cut = setTimeout(() => this.kill(), drainDelayMs + drainMs + CLOSE_MS);
    await Promise.all([...this.#workers.values()].map(({ exited }) => exited));
    clearTimeout(cut);
    await this.#books.flush();
  }

  /** Ends all workers at once. */
  kill(): void {
    this.#phase = 'draining';
    clearTimeout(this.#filling);
    clearTimeout(this.#opening);
    for (const worker of this.#workers.values()) worker.kill();
  }

  #list(...stages: readonly WorkerStage[]): WorkerHandle[] {
    return [...this.#workers.values()].filter(({ stage }) => stages.includes(stage));
  }

  #broadcast(message: PrimaryMessage, except?: WorkerHandle): void {
    for (const worker of this.#workers.values()) if (worker !== except) worker.send(message);
  }

  #setPhase(phase: HostPhase): void {
    this.#phase = phase;
    this.#broadcast({ type: 'phase', phase });
  }

  #fill(): void {
    if (this.#phase === 'draining') return;
    const missing = this.#target - this.#list('starting', 'serving').length;
    for (let count = 0; count < missing; count += 1) this.#fork();
  }

  #fork(): WorkerHandle {
    const worker = new WorkerHandle(cluster.fork(), (message, from) => {
      // Each handler is for messages of its own type.
      (this.#handlers[message.type] as MessageHandler)(message, from);
    });
    this.#workers.set(worker.id, worker);
    const late = setTimeout(() => {
      if (worker.stage === 'starting') worker.kill();
    }, START_TIMEOUT_MS);
    void worker.exited.then((end) => {
      clearTimeout(late);
      this.#bury(worker, end);
    });
    return worker;
  }

  #begin(worker: WorkerHandle): void {
    const start = {
      settings: this.#settings,
      worker: worker.id,
      phase: this.#phase,
      holders: this.#books.holders,
    };
    worker.send({ type: 'start', start });
  }

  /** Lets a worker listen as soon as it serves what the others serve. */
  async #admit(worker: WorkerHandle): Promise<void> {
    const patience = performance.now() + CATCH_UP_MS;
    while (!this.#books.isCaughtUp(worker.id) && worker.stage === 'starting') {
      if (performance.now() > patience) {
        this.#log.warn({ worker: worker.id }, 'a worker does not serve what the others serve');
        if (!worker.isSuccessor) break;
        worker.kill();
        return;
      }
      await pause(CATCH_UP_POLL_MS);
    }
    worker.isListening = true;
    worker.send({ type: 'listen', port: this.#port });
  }

  #welcome(worker: WorkerHandle, { url, port }: { url: string; port: number }): void {
    this.#url ??= url;
    this.#boundPort ??= port;
    // All others had gone between its order to listen and its listening, and port 0 was another one then.
    if (port !== this.#boundPort) {
      worker.kill();
      return;
    }
    worker.stage = 'serving';
    this.#log.info({ worker: worker.id, pid: worker.pid }, 'a worker serves');
    this.#settle();
    if (this.#phase === 'starting') this.#openSoon();
  }

  #openSoon(): void {
    if (this.#list('serving').length >= this.#count) {
      this.#open();
      return;
    }
    this.#opening ??= setTimeout(() => this.#open(), START_GRACE_MS);
  }

  #open(): void {
    if (this.#phase !== 'starting' || this.#url === null) return;
    clearTimeout(this.#opening);
    this.#setPhase('serving');
    this.#settle();
    this.#onStart?.resolve(this.#url);
  }

  /** Brings everything in line with who serves now. */
  #settle(): void {
    const serving = this.#list('serving');
    if (this.#phase === 'serving') this.#books.setServing(serving.map(({ id }) => id));
    // Who leads goes on: a hand-over costs every provider a delivery.
    if (this.#leader?.stage === 'serving') return;
    this.#leader?.send({ type: 'lead', leads: false });
    this.#leader = serving[0] ?? null;
    this.#leader?.send({ type: 'lead', leads: true });
  }

  #bury(worker: WorkerHandle, end: WorkerEnd): void {
    const isExpected = worker.stage === 'leaving' || this.#phase === 'draining';
    worker.stage = 'gone';
    this.#workers.delete(worker.id);
    this.#desk.gathering.forget(worker);
    this.#departed.retire(worker.id);
    this.#books.forget(worker.id);
    if (this.#phase !== 'draining') this.#settle();
    // The shared socket went with the last who had it; the next ones ask for the port that it had.
    if (!this.#list('starting', 'serving', 'leaving').some(({ isListening }) => isListening)) {
      this.#port = this.#boundPort ?? this.#port;
    }
    if (!isExpected) this.#mourn(worker, end);
  }

  #mourn(worker: WorkerHandle, { code, signal }: WorkerEnd): void {
    const { id, pid, misconfiguration: reason } = worker;
    const hasServed = this.#url !== null;
    if (!hasServed && reason !== null) {
      this.#giveUp(new ConfigError(reason));
      return;
    }
    const restart_ms = this.#pace.recordExit(performance.now());
    this.#log.error({ worker: id, pid, code, signal, reason, restart_ms }, 'a worker died');
    if (!hasServed) this.#startDeaths += 1;
    if (this.#startDeaths >= MAX_EXITS_AT_START) {
      const message = `no worker came up: ${this.#startDeaths} died before they served`;
      this.#giveUp(new StartFailure(message));
      return;
    }
    clearTimeout(this.#filling);
    this.#filling = setTimeout(() => this.#fill(), restart_ms);
  }

  #giveUp(error: Error): void {
    this.kill();
    this.#onStart?.reject(error);
  }

  async #replaceAll(workers: readonly WorkerHandle[]): Promise<boolean> {
    for (const old of workers) {
      // One that has died was replaced already.
      if (old.stage === 'serving' && !(await this.#replace(old))) return false;
    }
    return this.#phase === 'serving';
  }

  async #replace(old: WorkerHandle): Promise<boolean> {
    this.#target = this.#count + 1;
    const successor = this.#fork();
    successor.isSuccessor = true;
    const isUp = await this.#waitForService(successor);
    this.#target = this.#count;
    if (!isUp || this.#phase !== 'serving') return false;
    if (old.stage === 'serving') {
      this.#retire(old);
      await old.exited;
    }
    // The old one may have died meanwhile, and then there are two in its place.
    for (const spare of this.#list('starting', 'serving').slice(this.#count)) this.#retire(spare);
    return true;
  }

  async #waitForService(worker: WorkerHandle): Promise<boolean> {
    while (worker.stage === 'starting') {
      await Promise.race([worker.exited, pause(CATCH_UP_POLL_MS)]);
    }
    return worker.stage === 'serving';
  }

  /** Others have its place: it ends what it has begun. */
  #retire(worker: WorkerHandle): void {
    const hasBegun = worker.stage === 'serving';
    worker.stage = 'leaving';
    this.#settle();
    worker.send({ type: 'drain', isReplaced: true });
    const graceMs = hasBegun ? this.#settings.config.drainMs + CLOSE_MS : 0;
    const cut = setTimeout(() => worker.kill(), graceMs);
    void worker.exited.then(() => clearTimeout(cut));
  }

  /** Once what the rejecting worker wants kept is on disk: others go back to that. */
  async #passOnRejection(message: PrimaryMessage, from: WorkerHandle): Promise<void> {
    await this.#books.flush();
    this.#broadcast(message, from);
  }
}
