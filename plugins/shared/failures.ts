import {
  type FailureOptions,
  type FailurePhase,
  isProviderFailure,
  ProviderFailure,
} from '../../core/contract/index.js';
import { describeTransportError, readErrorCode } from './failure-details.js';

/** Codes of undici and llhttp for a message that is not HTTP, or that could not be written as HTTP. */
const PROTOCOL_CODE =
  /^(?:HPE_.*|UND_ERR_(?:INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH))$/;

/**
 * The failure of a call that was aborted: the host's own reason, a passed deadline, or a client that
 * disconnected.
 * @param status the status that the provider had sent; 0 for none
 */
export function createAbortFailure(
  reason: unknown,
  status = 0,
  phase: FailurePhase = 'responding',
): ProviderFailure {
  if (isProviderFailure(reason)) {
    if (status === 0 && reason.phase === phase) return reason;
    const { failure, message } = reason;
    const detail = phase === 'connecting' ? `${message}, without a connection` : message;
    return new ProviderFailure(failure, message, createOptions(reason, status, phase, detail));
  }
  const options = { cause: reason, phase };
  if (reason instanceof DOMException && reason.name === 'TimeoutError') {
    return new ProviderFailure('timeout', 'deadline passed', options);
  }
  return new ProviderFailure('cancelled', 'call was aborted', options);
}

/** An error before the first byte of a response is `unavailable`, after it `protocol`. */
export function createTransportFailure(
  error: unknown,
  hasResponse: boolean,
  status: number,
): ProviderFailure {
  if (isProviderFailure(error)) return error;
  const code = readErrorCode(error);
  const detail = describeTransportError(error);
  const options = createOptions(error, status, 'responding', detail);
  return hasResponse || PROTOCOL_CODE.test(code)
    ? new ProviderFailure('protocol', `response is cut short or malformed (${code})`, {
        ...options,
        detail: `response cut short or malformed: ${detail}`,
      })
    : new ProviderFailure('unavailable', `no response (${code})`, options);
}

function createOptions(
  cause: unknown,
  status: number,
  phase: FailurePhase,
  detail: string,
): FailureOptions {
  return { cause, phase, detail, ...(status !== 0 && { status }) };
}
