import { randomUUID } from 'node:crypto';
import { type ConfigureOperation, isProviderFailure, type Provider } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { Configuration, Delivered } from '../host/config-courier.js';
import type { ErrorOwner } from '../isolation/error-owner.js';
import { Deadline } from '../provider/deadline.js';
import { type CheckedOutcome, checkOutcome } from '../provider/outcome.js';

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
