import { isProviderFailure, ProviderFailure } from '../../core/contract/index.js';

/** Codes of undici and llhttp for a message that is not HTTP, or that we could not put into HTTP. */
const PROTOCOL_CODE =
  /^(?:HPE_.*|UND_ERR_(?:INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH))$/;

/**
 * Why the host took a call back: its own failure, a passed deadline, or a caller gone; with the status
 * when that had come (0 when it had not).
 */
export function failureOfAbort(reason: unknown, status = 0): ProviderFailure {
  if (isProviderFailure(reason)) {
    if (status === 0) return reason;
    return new ProviderFailure(reason.failure, reason.message, { cause: reason, status });
  }
  if (reason instanceof DOMException && reason.name === 'TimeoutError') {
    return new ProviderFailure('timeout', 'deadline passed', { cause: reason });
  }
  return new ProviderFailure('cancelled', 'call was taken back', { cause: reason });
}

/** Contract 1.7: what breaks before the first byte of an answer is `unavailable`, after it `protocol`. */
export function failureOfTransport(
  error: unknown,
  begun: boolean,
  status: number,
): ProviderFailure {
  if (isProviderFailure(error)) return error;
  const code = readCode(error);
  const options = status === 0 ? { cause: error } : { cause: error, status };
  return begun || PROTOCOL_CODE.test(code)
    ? new ProviderFailure('protocol', `answer is cut short or malformed (${code})`, options)
    : new ProviderFailure('unavailable', `no answer (${code})`, options);
}

function readCode(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error) return String(error.code);
  return error instanceof Error ? error.name : typeof error;
}
