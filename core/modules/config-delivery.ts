import { randomUUID } from 'node:crypto';
import { type ConfigureOperation, isProviderFailure, type Provider } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { ErrorOwner } from '../isolation/error-owner.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { Deadline } from '../provider/deadline.js';
import { type CheckedOutcome, checkOutcome } from '../provider/outcome.js';

const RETRY: BackoffBounds = { firstMs: 200, maxMs: 10_000 };

export interface Configuration {
  /** Grows by each write, from 0. */
  readonly revision: number;
  /** Keyed `service/key`. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** What became of an attempt; `refused`: any other would be in vain. */
export type Delivered =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface ConfigDeliveryOptions {
  /** Never throws. */
  readonly deliver: (configuration: Configuration, signal: AbortSignal) => Promise<Delivered>;
  /** Called when the reason of failures changes; `null` when one was accepted again. */
  readonly onTrouble: (reason: string | null, configuration: Configuration) => void;
}

interface PendingConfig {
  readonly configuration: Configuration;
  /** To tell whether two are the same. */
  readonly text: string;
}

/**
 * Brings configurations to one endpoint, one at a time and in order: what is under way ends before a later
 * one starts, of several that wait only the latest goes out, and that one until it is accepted.
 */
export class ConfigDelivery {
  readonly #options: ConfigDeliveryOptions;
  readonly #stopping = new AbortController();
  #wanted: PendingConfig | null = null;
  #accepted: string | null = null;
  #trouble: string | null = null;
  #isRunning = false;
  #wake: (() => void) | null = null;

  constructor(options: ConfigDeliveryOptions) {
    this.#options = options;
  }

  /** One that is under way or was accepted last is not delivered twice. */
  push(configuration: Configuration): void {
    const text = JSON.stringify(configuration);
    if (text === (this.#wanted?.text ?? this.#accepted)) return;
    this.#wanted = { configuration, text };
    this.#wake?.();
    // Never throws.
    if (!this.#isRunning) void this.#run();
  }

  /** Cuts what is under way; nothing is delivered any more. */
  stop(): void {
    this.#stopping.abort();
    this.#wake?.();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { signal } = this.#stopping;
    for (let attempt = 1; this.#wanted !== null && !signal.aborted; attempt += 1) {
      const parcel = this.#wanted;
      const delivered = await this.#options.deliver(parcel.configuration, signal);
      if (signal.aborted) break;
      if (delivered.kind === 'refused') this.stop();
      else if (delivered.kind === 'failed') {
        this.#report(delivered.reason, parcel);
        if (this.#wanted === parcel) await this.#pause(backoffMs(attempt, RETRY));
      } else {
        this.#report(null, parcel);
        this.#accepted = parcel.text;
        if (this.#wanted === parcel) this.#wanted = null;
        attempt = 0;
      }
    }
    this.#isRunning = false;
  }

  #report(reason: string | null, { configuration }: PendingConfig): void {
    if (reason === this.#trouble) return;
    this.#trouble = reason;
    this.#options.onTrouble(reason, configuration);
  }

  /** Ends early when there is something new to deliver: the operator waits for that. */
  async #pause(ms: number): Promise<void> {
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

export interface ConfigTarget {
  readonly provider: Provider;
  readonly descriptor: Descriptor;
  /** The manifest's `delivery_path`. */
  readonly path: string | null;
  /** `null` for a provider that names none. */
  readonly endpoint: string | null;
  /** Who answers for the provider's code; `null`: the host. */
  readonly owner: ErrorOwner | null;
}

/**
 * One attempt to hand over a configuration, past the guard: nobody has called, so it must neither count as
 * a call nor open a breaker, fail a probation or pay for retries. The reason of a failure is made of codes
 * alone, since what an adapter says of it may hold a value.
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
  const deadline = new Deadline(limits.timeoutMs, signal, owner);
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
    maxResponseBytes: limits.responseBytes,
    signal: deadline.signal,
  };
  try {
    return checkOutcome(await deadline.race(provider.invoke(invocation)), limits.responseBytes);
  } finally {
    deadline.end();
  }
}
