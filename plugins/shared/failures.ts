import {
  type FailureOptions,
  type FailurePhase,
  isProviderFailure,
  ProviderFailure,
} from '../../core/contract/index.js';

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

/**
 * The failure of a request that cannot be created from what the caller sent.
 * @param field as in `InvalidPart`
 */
export function createInvalidRequest(
  field: string,
  reason: string,
  cause?: unknown,
): ProviderFailure {
  const detail = field === '' ? `body ${reason}` : `${field} ${reason}`;
  return new ProviderFailure('refused', 'the request cannot be sent', {
    ...(cause !== undefined && { cause }),
    phase: 'preparing',
    detail,
    invalid: [{ field, reason }],
  });
}

/** The failure of a call of an endpoint that the host has not got from the provider. */
export function createUnknownEndpoint(): ProviderFailure {
  const message = 'the endpoint is not one of this provider';
  return new ProviderFailure('unavailable', message, { phase: 'connecting' });
}

const RETRY_START_MS = 1_000;

/**
 * The failure of a call that came before its provider had started.
 * @param detail what it waits for
 */
export function createStarting(detail: string, cause?: unknown): ProviderFailure {
  return new ProviderFailure('unavailable', 'the provider is starting', {
    ...(cause !== undefined && { cause }),
    phase: 'preparing',
    detail,
    retryAfterMs: RETRY_START_MS,
  });
}

/**
 * An error before the first byte of a response is `unavailable`, after it `protocol`.
 * @param phase before the response
 */
export function createTransportFailure(
  error: unknown,
  phase: FailurePhase,
  hasResponse = false,
  status = 0,
): ProviderFailure {
  if (isProviderFailure(error)) return error;
  const code = readErrorCode(error);
  // undici reports it for each malformed head that has a length.
  const isHead = status === 0 && code === LENGTH_MISMATCH;
  const detail = isHead ? 'malformed head' : describeTransportError(error);
  const isMalformed = hasResponse || PROTOCOL_CODE.test(code);
  const options = createOptions(error, status, isMalformed ? 'responding' : phase, detail);
  return isMalformed
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

const CERTIFICATE_MISMATCH = 'ERR_TLS_CERT_ALTNAME_INVALID';
const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
const MAX_ADDRESSES = 4;

/** Descriptions of codes that are unclear to operators. */
const WORDS: Readonly<Record<string, string>> = {
  ERR_TLS_PIN: 'certificate not pinned',
  UND_ERR_SOCKET: 'connection closed',
  UND_ERR_HEADERS_OVERFLOW: 'head is too large',
  [LENGTH_MISMATCH]: 'content-length not reached',
};

/** The reason of the parser of undici, a fixed text, in an error without a code. */
const PARSER_REASON = /^Response does not match the HTTP\/1\.1 protocol \(([\x20-\x7e]{1,80})\)$/;

/** Messages with which undici closes a connection, under the code of a closed connection. */
const INTERIM_RESPONSES: Readonly<Record<string, string>> = {
  'bad response': '100 Continue without expect',
  'bad upgrade': '101 Switching Protocols without upgrade',
};

/**
 * Describes the failure of a connection for operators: `ECONNREFUSED 127.0.0.1:4100`. It contains
 * codes, addresses and names in certificates only: messages of libraries may contain bytes of the
 * response.
 */
function describeTransportError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    const each = error.errors.slice(0, MAX_ADDRESSES).map(describeTransportError);
    return [...new Set(each)].join(', ');
  }
  const code = readErrorCode(error);
  if (code === CERTIFICATE_MISMATCH) return `certificate for ${readCertificateNames(error)}`;
  const address = readAddress(error);
  const words = readMessage(error, code) ?? WORDS[code] ?? code;
  return address === null ? words : `${words} ${address}`;
}

/** Reads what undici says in its message alone. */
function readMessage(error: unknown, code: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (code === 'HTTPParserError') return PARSER_REASON.exec(error.message)?.[1];
  return code === 'UND_ERR_SOCKET' ? INTERIM_RESPONSES[error.message] : undefined;
}

/** The code, otherwise the name of the error's class. */
function readErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = readMember(error, 'code');
  return code === undefined ? error.name : String(code);
}

/** Reads the address that Node adds to errors of sockets and of name resolution. */
function readAddress(error: unknown): string | null {
  const address = readMember(error, 'address') ?? readMember(error, 'hostname');
  if (typeof address !== 'string') return null;
  const port = readMember(error, 'port');
  if (typeof port !== 'number') return address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** `DNS:a.example, IP Address:10.0.0.1`, otherwise the common name. */
function readCertificateNames(error: unknown): string {
  const certificate = readMember(error, 'cert');
  const names = readMember(certificate, 'subjectaltname');
  if (typeof names === 'string') return names.replaceAll(/(?:DNS|IP Address):/g, '');
  return String(readMember(readMember(certificate, 'subject'), 'CN') ?? 'another name');
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
