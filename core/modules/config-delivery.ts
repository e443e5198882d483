import { randomUUID } from 'node:crypto';
import { type ConfigureOperation, isProviderFailure, type Provider } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { ErrorOwner } from '../isolation/error-owner.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { Deadline } from '../provider/deadline.js';
import { type CheckedOutcome, checkOutcome } from '../provider/outcome.js';

const RETRY: BackoffBounds = { firstMs: 200, maxMs: 10_000 };

interface Configuration {
  /** Increases with each write, from 0. */
  readonly revision: number;
  /** Keyed `service/key`. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** The result of an attempt; `refused` is final, because the provider never accepts it. */
type Delivered =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly reason: string };

interface ConfigDeliveryOptions {
  /** Never throws. */
  readonly deliver: (configuration: Configuration, signal: AbortSignal) => Promise<Delivered>;
  /** Called when the reason of failures changes; `null` after a success. */
  readonly onProblem: (reason: string | null, configuration: Configuration) => void;
}

interface PendingConfig {
  readonly configuration: Configuration;
  /** The text, for comparison. */
  readonly text: string;
}

/**
 * Delivers configurations to one endpoint, sequentially and in order. Of several waiting ones only
 * the latest is delivered, with retries until it is accepted.
 */
export class ConfigDelivery {
  readonly #options: ConfigDeliveryOptions;
  readonly #stopping = new AbortController();
  #wanted: PendingConfig | null = null;
  #accepted: string | null = null;
  #problem: string | null = null;
  #isRunning = false;
  #wake: (() => void) | null = null;

  constructor(options: ConfigDeliveryOptions) {
    this.#options = options;
  }

  /** Ignores a configuration that is being delivered or was accepted last. */
  push(configuration: Configuration): void {
    const text = JSON.stringify(configuration);
    if (text === (this.#wanted?.text ?? this.#accepted)) return;
    this.#wanted = { configuration, text };
    this.#wake?.();
    // Never rejects.
    if (!this.#isRunning) void this.#run();
  }

  /** Cancels the current delivery; no other follows. */
  stop(): void {
    this.#stopping.abort();
    this.#wake?.();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { signal } = this.#stopping;
    for (let attempt = 1; this.#wanted !== null && !signal.aborted; attempt += 1) {
      const pending = this.#wanted;
      const delivered = await this.#options.deliver(pending.configuration, signal);
      if (signal.aborted) break;
      if (delivered.kind === 'refused') this.stop();
      else if (delivered.kind === 'failed') {
        this.#report(delivered.reason, pending);
        if (this.#wanted === pending) await this.#wait(backoffMs(attempt, RETRY));
      } else {
        this.#report(null, pending);
        this.#accepted = pending.text;
        if (this.#wanted === pending) this.#wanted = null;
        attempt = 0;
      }
    }
    this.#isRunning = false;
  }

  #report(reason: string | null, { configuration }: PendingConfig): void {
    if (reason === this.#problem) return;
    this.#problem = reason;
    this.#options.onProblem(reason, configuration);
  }

  /** Ends early when a new configuration arrives. */
  async #wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
  }
}

interface ConfigTarget {
  readonly provider: Provider;
  readonly descriptor: Descriptor;
  /** The manifest's `delivery_path`. */
  readonly path: string | null;
  /** `null` for a provider without endpoints. */
  readonly endpoint: string | null;
  /** The owner of errors in the provider's code; `null` for the host's own code. */
  readonly owner: ErrorOwner | null;
}

/**
 * Makes one attempt without the provider client. It involves no caller, so it must neither count as
 * a call nor affect the circuit breaker, a probation or the retry budget. The reason of a failure
 * consists of codes only, because the message of an adapter may contain a value.
 */
export async function deliverConfig(
  target: ConfigTarget,
  configuration: Configuration,
  signal: AbortSignal,
): Promise<Delivered> {
  const { path } = target;
  try {
    const { status } = await invoke(target, { kind: 'configure', path, ...configuration }, signal);
    if (status >= 200 && status <= 299) return { kind: 'accepted' };
    return { kind: 'failed', reason: `answered with ${status}` };
  } catch (error) {
    const failure = isProviderFailure(error) ? error.failure : 'protocol';
    return failure === 'refused' ? { kind: 'refused' } : { kind: 'failed', reason: failure };
  }
}

async function invoke(
  { provider, descriptor: { module, limits }, endpoint, owner }: ConfigTarget,
  operation: ConfigureOperation,
  signal: AbortSignal,
): Promise<CheckedOutcome> {
  const deadline = new Deadline(limits.timeout_ms, signal, owner);
  const id = randomUUID();
  const requestId = `req_${id}`;
  const invocation = {
    id,
    operation,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'x-request-id': requestId,
      'x-correlation-id': requestId,
      'modgate-call-id': id,
      'modgate-deadline-ms': String(deadline.wholeMsLeft),
    },
    ...(endpoint === null ? {} : { endpoint }),
    context: { module, actor: null, requestId, correlationId: requestId },
    maxResponseBytes: limits.response_bytes,
    signal: deadline.signal,
  };
  try {
    return checkOutcome(await deadline.race(provider.invoke(invocation)), limits.response_bytes);
  } finally {
    deadline.end();
  }
}
