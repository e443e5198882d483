import type { Msg } from '@nats-io/transport-node';
import { type Outcome, ProviderFailure } from '../../core/contract/index.js';
import { STATUS_HEADER, UNSAFE_VALUE } from '../shared/route-message.js';

/** Sent by the server when there are no subscribers (ADR-4 of NATS). */
const NO_RESPONDERS = 503;

const STATUS = /^[1-5][0-9][0-9]$/;

/** @throws ProviderFailure `unavailable` without a subscriber, `protocol` for a malformed response. */
export function toOutcome(message: Msg, maxResponseBytes: number): Outcome {
  const { data, headers } = message;
  if (headers?.code === NO_RESPONDERS && data.length === 0) {
    const message = 'no provider is subscribed to the subject';
    throw new ProviderFailure('unavailable', message, { phase: 'connecting' });
  }
  const joined: Record<string, string> = Object.create(null);
  for (const [name, values] of headers ?? []) {
    const lower = name.toLowerCase();
    const value = values.join(', ');
    if (UNSAFE_VALUE.test(value)) throw createMalformed('has a header with a control character');
    joined[lower] = lower in joined ? `${joined[lower]}, ${value}` : value;
  }
  const { [STATUS_HEADER]: status = '', ...others } = joined;
  if (!STATUS.test(status)) throw createMalformed(`has no ${STATUS_HEADER} between 100 and 599`);
  if (data.length > maxResponseBytes) {
    throw new ProviderFailure('protocol', `response body is over ${maxResponseBytes} bytes`, {
      status: Number(status),
      phase: 'answered',
    });
  }
  return { status: Number(status), headers: others, body: data.length === 0 ? null : data };
}

function createMalformed(problem: string): ProviderFailure {
  return new ProviderFailure('protocol', `the response ${problem}`, { phase: 'answered' });
}
