import {
  type Cancellation,
  type FailureCode,
  isProviderFailure,
  type Log,
  ProviderFailure,
  type Scope,
} from '../../core/contract/index.js';
import {
  createAbortFailure,
  createStarting,
  Gate,
  START_WAIT_MS,
  steadyBackoffMs,
  withDeadline,
} from '../shared/transport.js';
import type { Reflected } from './reflection.js';
import type { Schema } from './schema.js';

/** What is known of the services of a provider. */
export interface KnownSchema extends Schema {
  readonly missing?: Reflected['missing'];
}

/** The time for all files of a server. */
const READ_TIMEOUT_MS = 10_000;
const BACKOFF = { firstMs: 200, maxMs: 10_000 };
/** A call starts an attempt if the last one ended this long ago. */
const CALL_INTERVAL_MS = 1_000;

interface SourceOptions {
  /** Reads the files of the services. */
  readonly read: (services: readonly string[], signal: AbortSignal) => Promise<KnownSchema>;
  readonly scope: Pick<Scope, 'signal' | 'defer'>;
  readonly log: Log;
}

/** Failures of a server that has answered: what it said cannot be used. */
const UNUSABLE: ReadonlySet<FailureCode> = new Set(['protocol', 'status']);

/** Reads a schema by reflection, again and again until the server answers. */
export class ReflectedSource {
  readonly #options: SourceOptions;
  #services: readonly string[] = [];
  #schema: KnownSchema | null = null;
  /** Opens when the attempt ends; `null` between attempts. */
  #reading: Gate | null = null;
  #failure: unknown = null;
  #timer: NodeJS.Timeout | null = null;
  #failures = 0;
  #endedAt = 0;

  constructor(options: SourceOptions) {
    this.#options = options;
    options.scope.defer(() => {
      if (this.#timer !== null) clearTimeout(this.#timer);
    });
  }

  /** Reads these services from now on. */
  use(services: readonly string[]): void {
    const isKnown =
      this.#schema !== null && services.every((name) => this.#services.includes(name));
    if (isKnown) return;
    this.#services = services;
    this.#start();
  }

  /** Why the last attempt failed, for operators; `null` after a success. */
  get problem(): string | null {
    if (this.#failure === null) return null;
    const failure = this.#failure;
    if (isProviderFailure(failure)) return failure.detail;
    return failure instanceof Error ? failure.message : 'cannot be read';
  }

  get schema(): KnownSchema | null {
    return this.#schema;
  }

  /** @throws ProviderFailure in phase `preparing` while the server does not answer. */
  async wait(signal: Cancellation): Promise<KnownSchema> {
    if (signal.aborted) throw createAbortFailure(signal.reason, 0, 'connecting');
    const isDue = performance.now() - this.#endedAt >= CALL_INTERVAL_MS;
    if (this.#schema === null && this.#reading === null && isDue) this.#start();
    if (this.#schema === null) await this.#reading?.wait(signal, START_WAIT_MS);
    if (this.#schema !== null) return this.#schema;
    const cause = this.#failure;
    const detail = `reflection: ${this.problem ?? 'not read yet'}`;
    const isDown = isProviderFailure(cause) && !UNUSABLE.has(cause.failure);
    if (cause === null || isDown) throw createStarting(detail, cause);
    const message = 'the services cannot be read';
    throw new ProviderFailure('protocol', message, { cause, phase: 'preparing', detail });
  }

  #start(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const services = this.#services;
    const reading = new Gate();
    this.#reading = reading;
    // Never rejects.
    void this.#read(services).finally(() => {
      this.#endedAt = performance.now();
      if (this.#reading === reading) this.#reading = null;
      if (services !== this.#services && this.#reading === null) this.#start();
      reading.open();
    });
  }

  async #read(services: readonly string[]): Promise<void> {
    const { read, scope, log } = this.#options;
    try {
      const schema = await withDeadline(scope.signal, READ_TIMEOUT_MS, (signal) =>
        read(services, signal),
      );
      // Of services that are not used any more; another read has begun.
      if (services !== this.#services) return;
      this.#schema = schema;
      this.#failure = null;
      this.#failures = 0;
    } catch (error) {
      if (scope.signal.aborted || services !== this.#services) return;
      this.#failure = error;
      this.#failures += 1;
      if (this.#failures === 1) log.warn({ err: error }, 'services not read by reflection');
      this.#timer = setTimeout(() => this.#start(), steadyBackoffMs(this.#failures, BACKOFF));
      this.#timer.unref();
    }
  }
}
