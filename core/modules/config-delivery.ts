import { randomUUID } from 'node:crypto';
import {
  type ConfigureOperation,
  type FailurePhase,
  isProviderFailure,
  type Provider,
} from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { ErrorOwner } from '../isolation/error-owner.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import type { FleetLeadership } from '../processes.js';
import { Deadline } from '../provider/deadline.js';
import { type CheckedOutcome, checkOutcome } from '../provider/outcome.js';
import { StoreUnavailable } from '../store/store-unavailable.js';

const RETRY: BackoffBounds = { firstMs: 200, maxMs: 10_000 };
/** Phases in which a transport denies the host now. An adapter without a path names others. */
const DENIED: ReadonlySet<FailurePhase> = new Set(['connecting', 'sending']);
const OTHER_HOST = { kind: 'failed', reason: 'another host may deliver' } as const;

export interface Configuration {
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
  /** Reads the newest configuration. @throws StoreUnavailable, when the attempt is repeated later. */
  readonly read: () => Promise<Configuration>;
  /** Never throws. */
  readonly deliver: (configuration: Configuration, signal: AbortSignal) => Promise<Delivered>;
  /** Allows each attempt, in a fleet whose hosts share the provider. */
  readonly leadership: Pick<FleetLeadership, 'act'> | null;
  /** Called when the reason of failures changes; `null` after a success. */
  readonly onProblem: (reason: string | null, revision: number) => void;
}

/**
 * Delivers configurations to one endpoint, one after the other, each with retries until it is accepted. Each
 * attempt reads the newest one, because another host may have delivered it meanwhile.
 */
export class ConfigDelivery {
  readonly #options: ConfigDeliveryOptions;
  /** The newest known configuration, while it is not accepted. */
  #wanted: Configuration | null = null;
  /** Its values as text, for comparison. */
  #accepted: { readonly revision: number; readonly text: string } | null = null;
  #problem: string | null = null;
  #attempt: AbortController | null = null;
  #isRunning = false;
  #isStopped = false;
  #wake: (() => void) | null = null;

  constructor(options: ConfigDeliveryOptions) {
    this.#options = options;
  }

  /** Ignores a configuration that is being delivered or was accepted last. */
  push(configuration: Configuration): void {
    const wanted = this.#wanted;
    const isKnown =
      wanted === null ? this.#isAccepted(configuration) : isSame(wanted, configuration);
    if (isKnown) return;
    this.#wanted = configuration;
    this.#wake?.();
    // Never rejects.
    if (!this.#isRunning) void this.#run();
  }

  /** Cancels the current delivery; no other follows. */
  stop(): void {
    this.#isStopped = true;
    this.#attempt?.abort();
    this.#wake?.();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let attempt = 1; this.#wanted !== null && !this.#isStopped; attempt += 1) {
      const wanted = this.#wanted;
      const delivered = await this.#try();
      if (this.#isStopped) break;
      if (delivered.kind === 'refused') this.stop();
      else if (delivered.kind === 'failed') {
        this.#report(delivered.reason, wanted);
        if (this.#wanted === wanted) await this.#wait(backoffMs(attempt, RETRY));
      } else {
        this.#report(null, wanted);
        if (this.#wanted === wanted) this.#wanted = null;
        attempt = 0;
      }
    }
    this.#isRunning = false;
  }

  async #try(): Promise<Delivered> {
    const { leadership } = this.#options;
    const ending = new AbortController();
    this.#attempt = ending;
    const deliver = () => this.#deliverNewest(ending.signal);
    try {
      if (leadership === null) return await deliver();
      return (await leadership.act(ending, deliver)) ?? OTHER_HOST;
    } catch (error) {
      if (error instanceof StoreUnavailable) return { kind: 'failed', reason: error.message };
      return { kind: 'failed', reason: 'the configuration cannot be read' };
    } finally {
      this.#attempt = null;
    }
  }

  async #deliverNewest(signal: AbortSignal): Promise<Delivered> {
    const newest = await this.#options.read();
    if (this.#isAccepted(newest)) return { kind: 'accepted' };
    if (signal.aborted) return OTHER_HOST;
    const { revision } = newest;
    // Code in this process could change the values.
    const text = JSON.stringify(newest.values);
    const delivered = await this.#options.deliver(newest, signal);
    if (delivered.kind === 'accepted') this.#accepted = { revision, text };
    return delivered;
  }

  /** Values of one revision differ when the manifest's defaults or fields do. */
  #isAccepted({ revision, values }: Configuration): boolean {
    if (revision !== this.#accepted?.revision) return false;
    return JSON.stringify(values) === this.#accepted.text;
  }

  #report(reason: string | null, { revision }: Configuration): void {
    if (reason === this.#problem) return;
    this.#problem = reason;
    this.#options.onProblem(reason, revision);
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

function isSame(a: Configuration, b: Configuration): boolean {
  return a.revision === b.revision && JSON.stringify(a.values) === JSON.stringify(b.values);
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
    if (!isProviderFailure(error)) return { kind: 'failed', reason: 'protocol' };
    const { failure, phase } = error;
    const isFinal = failure === 'refused' && path === null && !DENIED.has(phase);
    return isFinal ? { kind: 'refused' } : { kind: 'failed', reason: failure };
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
