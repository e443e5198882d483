// Imports only a part of the contract, because imports delay the start of a thread.
import { isProviderFailure, ProviderFailure } from '../../core/contract/failure.js';
import type { SentFailure } from './thread-messages.js';

/** Longer messages and stacks are cut in the log. UTF-16 units. */
const MAX_CAUSE_LENGTH = 10_000;

export function sendFailure(error: unknown): SentFailure {
  if (!isProviderFailure(error)) {
    const cause = describeCause(error);
    return {
      failure: 'protocol',
      message: 'the handler threw',
      status: null,
      phase: 'responding',
      cause,
    };
  }
  const { failure, message, status, phase } = error;
  const cause = error.cause === undefined ? null : describeCause(error.cause);
  return { failure, message, status, phase, cause };
}

export function receiveFailure({
  failure,
  message,
  status,
  phase,
  cause,
}: SentFailure): ProviderFailure {
  return new ProviderFailure(failure, message, {
    phase,
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
    return new Error('it threw a value without a text');
  }
}

function cut(text: unknown): string {
  return typeof text === 'string' ? text.slice(0, MAX_CAUSE_LENGTH) : '';
}
