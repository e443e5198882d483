// Not the whole contract: what a thread imports delays its start.
import { isProviderFailure, ProviderFailure } from '../../core/contract/failure.js';
import type { SentFailure } from './thread-messages.js';

/** A module may throw what it likes; this much of it is for the log. UTF-16 units. */
const MAX_CAUSE_LENGTH = 10_000;

export function sendFailure(error: unknown): SentFailure {
  if (!isProviderFailure(error)) {
    const cause = describeCause(error);
    return { failure: 'protocol', message: 'the handler threw', status: null, cause };
  }
  const { failure, message, status } = error;
  const cause = error.cause === undefined ? null : describeCause(error.cause);
  return { failure, message, status, cause };
}

export function receiveFailure({ failure, message, status, cause }: SentFailure): ProviderFailure {
  return new ProviderFailure(failure, message, {
    ...(status !== null && { status }),
    ...(cause !== null && { cause: Object.assign(new Error(), cause) }),
  });
}

function describeCause(cause: unknown): NonNullable<SentFailure['cause']> {
  const { name, message, stack } = toError(cause);
  return { name: cut(name), message: cut(message), stack: cut(stack) };
}

function toError(cause: unknown): Error {
  if (cause instanceof Error) return cause;
  try {
    return new Error(String(cause));
  } catch {
    return new Error('it threw something that is no text');
  }
}

function cut(text: unknown): string {
  return typeof text === 'string' ? text.slice(0, MAX_CAUSE_LENGTH) : '';
}
