import { setTimeout as pause } from 'node:timers/promises';
import { ConfigError } from '../errors.js';
import { describeListenError } from '../http/server/listen.js';
import type { Logger } from '../log/logger.js';
import type { PrimaryPart, SharedService } from '../processes.js';
import { ConnectionDistributor } from './distributor.js';
import type { HostPhase, ServeSettings, WorkerMessage } from './messages.js';
import { WorkerRestartBackoff } from './restart-backoff.js';
import { RollingRestart } from './rolling-restart.js';
import type { WorkerExit, WorkerHandle } from './worker-handle.js';
import { WorkerPool } from './worker-pool.js';
import { WorkerQueries } from './worker-queries.js';

/** The start fails when this many workers exit before one serves. */
const MAX_EXITS_AT_START = 5;
/** How long the start waits for the other workers once one serves. Milliseconds. */
const START_GRACE_MS = 10_000;
/** The time limit for a new worker to serve the same modules as the others. Milliseconds. */
const CATCH_UP_MS = 10_000;
const CATCH_UP_POLL_MS = 25;
/** The time for a worker to close its resources after its drain. Milliseconds. */
const CLOSE_MS = 8000;

type MessageHandlers = {
  readonly [Type in WorkerMessage['type']]: (
    message: Extract<WorkerMessage, { type: Type }>,
    from: WorkerHandle,
  ) => void;
};

type MessageHandler = (message: WorkerMessage, from: WorkerHandle) => void;

type Serving = Extract<WorkerMessage, { type: 'serving' }>;

/** The report of the first worker that serves. */
type Started = Pick<Serving, 'url' | 'surfaces'>;

/** No worker started. */
class StartFailure extends Error {}

interface SupervisorOptions {
  readonly settings: ServeSettings;
  readonly count: number;
  readonly services: readonly SharedService<unknown>[];
  readonly log: Logger;
}

/**
 * Runs in the primary of a host with several processes: starts the workers, replaces those that exit
 * and passes messages between them. It serves no requests and runs no modules, so it rarely fails.
 */
export class Supervisor {
  readonly #settings: ServeSettings;
  readonly #count: number;
  readonly #log: Logger;
  readonly #pool: WorkerPool;
  /** The parts of the services, by name. */
  readonly #parts: ReadonlyMap<string, PrimaryPart>;
  readonly #distributor: ConnectionDistributor;
  readonly #queries: WorkerQueries;
  readonly #rollingRestart: RollingRestart;
  readonly #backoff = new WorkerRestartBackoff();
  #onStart: { resolve(started: Started): void; reject(error: unknown): void } | null = null;
  #phase: HostPhase = 'starting';
  #started: Started | null = null;
  /** Where the host listens, once a worker has read its modules. */
  #url: Promise<string> | null = null;
  #leader: WorkerHandle | null = null;
  #exitsAtStart = 0;
  #refillTimer: NodeJS.Timeout | undefined;
  #startTimer: NodeJS.Timeout | undefined;
  readonly #handlers: MessageHandlers = {
    hello: (_message, from) => this.#onHello(from),
    misconfigured: ({ message }, from) => {
      from.misconfiguration = message;
    },
    // Never rejects.
    ready: (_message, from) => void this.#allowServing(from),
    serving: (message, from) => this.#onServing(from, message),
    taken: (_message, from) => this.#distributor.onTaken(from),
    heartbeat: (_message, from) => {
      from.pendingHeartbeats = 0;
    },
    query: ({ id, subject, input }, from) =>
      this.#report(() => this.#queries.answer(from, id, subject, input)),
    response: ({ id, response }, from) => this.#queries.receive(from, id, response),
    notice: (message, from) => this.#pool.broadcast({ ...message, worker: from.id }, from.id),
    message: ({ service, message }, from) =>
      this.#report(async () => this.#parts.get(service)?.receive?.(message, from)),
    question: ({ id, service, question }, from) =>
      this.#report(async () => {
        const answer = await this.#parts.get(service)?.answer?.(question, from);
        from.send({ type: 'answer', id, answer });
      }),
  };

  constructor({ settings, count, services, log }: SupervisorOptions) {
    this.#settings = settings;
    this.#count = count;
    this.#log = log;
    this.#distributor = new ConnectionDistributor(settings.config.maxConnections);
    this.#pool = new WorkerPool({
      log,
      // Each handler receives only messages of its own type.
      onMessage: (message, from) => (this.#handlers[message.type] as MessageHandler)(message, from),
      onExit: (worker, exit) => this.#onExit(worker, exit),
      onFailedFork: (reason) => this.#replaceLater({ reason }),
    });
    const list = this.#pool.list.bind(this.#pool);
    const openPart = ({ name, createPrimary }: SharedService<unknown>) =>
      createPrimary({
        config: settings.config,
        log,
        workers: count,
        announce: (message, except) =>
          this.#pool.broadcast({ type: 'notice', channel: name, worker: 0, message }, except),
      });
    this.#parts = new Map(services.map((service) => [service.name, openPart(service)]));
    this.#queries = new WorkerQueries({ parts: this.#parts, list });
    this.#rollingRestart = new RollingRestart({
      pool: this.#pool,
      count,
      drainTimeoutMs: settings.config.drainMs + CLOSE_MS,
      phase: () => this.#phase,
      onRetired: (worker) => {
        this.#distributor.retire(worker);
        this.#onServingChange();
      },
      log,
    });
  }

  /**
   * Starts the workers. Resolves when all of them serve, or some of them after a grace period.
   * @throws ConfigError for an invalid configuration; StartFailure when no worker starts.
   */
  start(): Promise<Started> {
    this.#pool.start();
    return new Promise((resolve, reject) => {
      this.#onStart = { resolve, reject };
      this.#fill();
    });
  }

  /** Makes every worker read all files again. */
  rescan(): void {
    this.#pool.broadcast({ type: 'rescan' });
  }

  /** Replaces one worker after the other. */
  restart(): Promise<void> {
    return this.#rollingRestart.run();
  }

  /** Drains all workers. Resolves when they have exited. */
  async drain(): Promise<void> {
    this.#setPhase('draining');
    clearTimeout(this.#refillTimer);
    clearTimeout(this.#startTimer);
    for (const worker of this.#pool.list('starting')) worker.kill();
    for (const worker of this.#pool.list('serving')) {
      worker.stage = 'draining';
      worker.send({ type: 'drain', isReplaced: false });
    }
    const { drainDelayMs, drainMs } = this.#settings.config;
    const closeTimer = setTimeout(() => this.#distributor.close(), drainDelayMs);
    const killTimer = setTimeout(() => this.kill(), drainDelayMs + drainMs + CLOSE_MS);
    await this.#pool.close();
    clearTimeout(killTimer);
    clearTimeout(closeTimer);
    this.#distributor.close();
    await Promise.all([...this.#parts.values()].map((part) => part.flush?.()));
  }

  kill(): void {
    this.#phase = 'draining';
    clearTimeout(this.#refillTimer);
    clearTimeout(this.#startTimer);
    this.#pool.kill();
  }

  #setPhase(phase: HostPhase): void {
    this.#phase = phase;
    this.#pool.broadcast({ type: 'phase', phase });
  }

  #fill(): void {
    if (this.#phase === 'draining') return;
    const targetCount = this.#count + this.#rollingRestart.extraWorkers;
    const missing = targetCount - this.#pool.list('starting', 'serving').length;
    for (let count = 0; count < missing; count += 1) if (this.#pool.fork() === null) return;
  }

  #onHello(worker: WorkerHandle): void {
    const start = {
      settings: this.#settings,
      worker: worker.id,
      phase: this.#phase,
      services: new Map([...this.#parts].map(([name, part]) => [name, part.start?.(worker)])),
    };
    worker.send({ type: 'start', start });
  }

  /** Lets a worker serve as soon as it has the same modules as the others. */
  async #allowServing(worker: WorkerHandle): Promise<void> {
    const deadline = performance.now() + CATCH_UP_MS;
    const isReady = () =>
      [...this.#parts.values()].every((part) => part.isReady?.(worker.id) !== false);
    while (!isReady() && worker.stage === 'starting') {
      if (performance.now() > deadline) {
        this.#log.warn({ worker: worker.id }, 'worker did not catch up');
        if (!worker.isSuccessor) break;
        worker.kill();
        return;
      }
      await pause(CATCH_UP_POLL_MS);
    }
    try {
      this.#url ??= this.#listen();
      worker.send({ type: 'serve', url: await this.#url });
    } catch (error) {
      this.#failStart(describeListenError(error, this.#settings));
    }
  }

  #listen(): Promise<string> {
    const { tlsCert, host, port } = this.#settings.config;
    return this.#distributor.listen(tlsCert === null ? 'http' : 'https', host, port);
  }

  #onServing(worker: WorkerHandle, { url, surfaces }: Serving): void {
    this.#started ??= { url, surfaces };
    worker.stage = 'serving';
    this.#distributor.add(worker);
    this.#log.info({ worker: worker.id, pid: worker.pid }, 'worker ready');
    this.#onServingChange();
    if (this.#phase === 'starting') this.#completeStartSoon();
  }

  #completeStartSoon(): void {
    if (this.#pool.list('serving').length >= this.#count) {
      this.#completeStart();
      return;
    }
    this.#startTimer ??= setTimeout(() => this.#completeStart(), START_GRACE_MS);
  }

  #completeStart(): void {
    if (this.#phase !== 'starting' || this.#started === null) return;
    clearTimeout(this.#startTimer);
    this.#setPhase('serving');
    this.#onServingChange();
    this.#onStart?.resolve(this.#started);
  }

  #onServingChange(): void {
    const serving = this.#pool.list('serving');
    if (this.#phase === 'serving') {
      const ids = serving.map(({ id }) => id);
      for (const part of this.#parts.values()) part.onServing?.(ids);
    }
    // Keeps the current leader, because changing it redelivers all configuration.
    if (this.#leader?.stage === 'serving') return;
    this.#leader?.send({ type: 'lead', leads: false });
    this.#leader = serving[0] ?? null;
    this.#leader?.send({ type: 'lead', leads: true });
  }

  #onExit(worker: WorkerHandle, exit: WorkerExit): void {
    const isExpected = worker.stage === 'draining' || this.#phase === 'draining';
    worker.stage = 'exited';
    this.#distributor.onExit(worker);
    this.#queries.remove(worker);
    for (const part of this.#parts.values()) part.onExit?.(worker.id);
    if (this.#phase !== 'draining') this.#onServingChange();
    if (!isExpected) this.#onUnexpectedExit(worker, exit);
  }

  #onUnexpectedExit(worker: WorkerHandle, { code, signal, failure }: WorkerExit): void {
    const { id, pid, misconfiguration } = worker;
    if (this.#started === null && misconfiguration !== null) {
      this.#failStart(new ConfigError(misconfiguration));
      return;
    }
    const reason = misconfiguration ?? failure;
    this.#replaceLater({ worker: id, pid, code, signal, reason });
  }

  /** Replaces a worker that has exited, or for which there was no process. */
  #replaceLater(fields: Readonly<Record<string, unknown>>): void {
    const restart_ms = this.#backoff.recordExit(performance.now());
    this.#log.error({ ...fields, restart_ms }, 'worker exited unexpectedly');
    if (this.#started === null) this.#exitsAtStart += 1;
    if (this.#exitsAtStart >= MAX_EXITS_AT_START) {
      const message = `no worker started: ${this.#exitsAtStart} exited before they served`;
      this.#failStart(new StartFailure(message));
      return;
    }
    clearTimeout(this.#refillTimer);
    this.#refillTimer = setTimeout(() => this.#fill(), restart_ms);
  }

  #failStart(error: unknown): void {
    this.kill();
    this.#onStart?.reject(error);
  }

  /** An error in the response to one worker must not affect the others. */
  #report(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.#log.error({ err: error }, 'worker message failed'));
  }
}
