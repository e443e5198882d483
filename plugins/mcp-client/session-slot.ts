import { setTimeout as pause } from 'node:timers/promises';
import {
  type CallContext,
  type Cancellation,
  isProviderFailure,
  type Log,
  ProviderFailure,
} from '../../core/contract/index.js';
import {
  createAbortFailure,
  createStarting,
  Gate,
  RestartBackoff,
  START_WAIT_MS,
} from '../shared/transport.js';
import { describeProblem, McpProblem } from './describe-problem.js';
import type { Resources } from './resources.js';
import type { Session } from './session.js';
import type { ToolWatch } from './tool-watch.js';

const HANDSHAKE = 'the session is starting';

/** A session with what its server lists. */
export interface OpenSession {
  readonly session: Session;
  readonly tools: ToolWatch;
  readonly resources: Resources;
}

/** A command that can never start: the descriptor is rejected. */
export class UnusableCommand extends McpProblem {}

/**
 * Opens a session.
 * @param readContext the last call of the session, for which it may need credentials
 */
export type OpenSlotSession = (
  signal: AbortSignal,
  readContext: () => CallContext | undefined,
) => Promise<OpenSession>;

interface SlotOptions {
  readonly open: OpenSlotSession;
  readonly log: Log;
  /** The call for which it is opened. Default: none. */
  readonly context?: CallContext;
}

/** Keeps one session open, and starts another one when it ends. */
export class SessionSlot {
  /** Resolves after the first attempt. @throws UnusableCommand */
  readonly first: Promise<void>;
  readonly #options: SlotOptions;
  readonly #closing = new AbortController();
  readonly #backoff = new RestartBackoff();
  /** Opens at the next change. */
  #changed = new Gate();
  readonly #stopped: Promise<void>;
  #current: OpenSession | null = null;
  /** The reason why there is no session, unless one is starting. */
  #problem: string | null = null;
  /** Whether there has never been a session. */
  #isStarting = true;
  #context: CallContext | undefined;
  #usedAt = performance.now();
  #calls = 0;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#context = options.context;
    let settle: (error?: unknown) => void = () => {};
    this.first = new Promise((resolve, reject) => {
      settle = (error) => (error instanceof UnusableCommand ? reject(error) : resolve());
    });
    this.first.catch(() => {});
    this.#stopped = this.#run(settle);
  }

  /** The current session; `null` while there is none. */
  get current(): OpenSession | null {
    return this.#current;
  }

  /** The milliseconds since the last call ended; 0 during a call. */
  get idleMs(): number {
    return this.#calls > 0 ? 0 : performance.now() - this.#usedAt;
  }

  /** @throws ProviderFailure `unavailable` unless there is a session. */
  check(): void {
    if (this.#current !== null) return;
    if (this.#isStarting && this.#problem === null) throw createStarting(HANDSHAKE);
    throw createDown(this.#problem ?? HANDSHAKE);
  }

  /** Runs a call with the session, for which it waits while one is starting. */
  async use<T>(
    context: CallContext,
    signal: Cancellation,
    run: (open: OpenSession) => Promise<T>,
  ): Promise<T> {
    this.#context = context;
    this.#calls += 1;
    try {
      return await run(await this.#get(signal));
    } catch (error) {
      const isLost = isProviderFailure(error) && error.failure === 'protocol';
      if (!isLost || !this.#closing.signal.aborted) throw error;
      throw new ProviderFailure('unavailable', 'the module was closed', { cause: error });
    } finally {
      this.#calls -= 1;
      this.#usedAt = performance.now();
    }
  }

  async close(): Promise<void> {
    const open = this.#current;
    this.#closing.abort();
    this.#change(null, 'module closed');
    await Promise.all([open?.session.end('module closed'), this.#stopped]);
  }

  async #get(signal: Cancellation): Promise<OpenSession> {
    if (signal.aborted) throw createAbortFailure(signal.reason, 0, 'connecting');
    for (;;) {
      if (this.#current !== null) return this.#current;
      if (this.#problem !== null) throw createDown(this.#problem);
      const changed = this.#changed;
      await changed.wait(signal, this.#isStarting ? START_WAIT_MS : undefined);
      if (this.#isStarting && changed === this.#changed) throw createStarting(HANDSHAKE);
    }
  }

  async #run(settleFirst: (error?: unknown) => void): Promise<void> {
    const { log } = this.#options;
    const closing = this.#closing.signal;
    while (!closing.aborted) {
      this.#change(null, null);
      let upAt = 0;
      let reason: string;
      try {
        const open = await this.#options.open(closing, () => this.#context);
        upAt = performance.now();
        this.#isStarting = false;
        this.#change(open, null);
        settleFirst();
        log.info({ revision: open.session.version, tools: open.tools.size }, 'session started');
        if (closing.aborted) await open.session.end('module closed');
        reason = await open.session.ended;
      } catch (error) {
        reason = describeProblem(error);
        settleFirst(error);
        if (error instanceof UnusableCommand) return this.#change(null, reason);
      }
      if (closing.aborted) return;
      const delayMs = this.#backoff.next(upAt === 0 ? 0 : performance.now() - upAt);
      log.error({ reason, restart_in_ms: delayMs }, 'session ended');
      this.#change(null, delayMs === 0 ? null : `no session for up to ${delayMs} ms: ${reason}`);
      await pause(delayMs, undefined, { signal: closing }).catch(() => {});
    }
  }

  #change(current: OpenSession | null, problem: string | null): void {
    this.#current = current;
    this.#problem = problem;
    this.#changed.open();
    this.#changed = new Gate();
  }
}

function createDown(problem: string): ProviderFailure {
  return new ProviderFailure('unavailable', problem, { phase: 'connecting' });
}
