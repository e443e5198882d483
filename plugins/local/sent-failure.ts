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
      detail: describeThrown(error),
      cause,
    };
  }
  const { failure, message, status, phase } = error;
  // The module may have an older copy of the contract, without `detail`.
  const detail = error.detail ?? message;
  const cause = error.cause === undefined ? null : describeCause(error.cause);
  return { failure, message, status, phase, detail, cause };
}

export function receiveFailure({
  failure,
  message,
  status,
  phase,
  detail,
  cause,
}: SentFailure): ProviderFailure {
  return new ProviderFailure(failure, message, {
    phase,
    detail,
    ...(status !== null && { status }),
    ...(cause !== null && { cause: Object.assign(new Error(), cause) }),
  });
}

/** Omits the message, which may contain bytes of a body. */
export function describeThrown(error: unknown): string {
  return `handler threw ${error instanceof Error ? cut(error.name) : typeof error}`;
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
