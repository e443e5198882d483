import type { Dispatcher } from 'undici';
import { type Cancellation, type Outcome, ProviderFailure } from '../../core/contract/index.js';
import { failureOfAbort, failureOfTransport } from '../shared/failures.js';
import type { CarriedOptions, CarriedRequest } from './carrier.js';

export interface UpstreamRequestOptions {
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
}

export interface UpstreamLimits {
  /** Bytes of the body; one more is a `protocol` failure. */
  readonly maxResponseBytes: number;
  readonly signal: Cancellation;
}

/**
 * Sends one request and collects its answer. Never sent twice: undici repeats nothing of a pool whose
 * pipelining is 1, and repeating is the host's business.
 * @throws ProviderFailure (as a rejection), and nothing else.
 */
export function sendUpstream(
  dispatcher: Dispatcher,
  { method, path, headers, body }: UpstreamRequestOptions,
  limits: UpstreamLimits,
): Promise<Outcome> {
  if (limits.signal.aborted) return Promise.reject(failureOfAbort(limits.signal.reason));
  return new Promise((resolve, reject) => {
    const handler = new UpstreamRequest(limits, resolve, reject);
    const options: CarriedOptions = { method, path, headers, body, carried: handler };
    dispatcher.dispatch(options, handler);
  });
}

/**
 * The handler that undici drives, and the listener of the signal: one object a call, no closure. It
 * must never throw, since undici would raise that as an `error` event that nobody hears.
 */
class UpstreamRequest implements Dispatcher.DispatchHandler, CarriedRequest {
  readonly #limits: UpstreamLimits;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #reject: (failure: ProviderFailure) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #hangUp: (() => void) | null = null;
  #settled = false;
  #begun = false;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  readonly #pieces: Buffer[] = [];
  #length = 0;

  constructor(
    limits: UpstreamLimits,
    resolve: (outcome: Outcome) => void,
    reject: (failure: ProviderFailure) => void,
  ) {
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
    limits.signal.addEventListener('abort', this);
  }

  get isOver(): boolean {
    return this.#settled;
  }

  /** The signal was aborted: at any stage, also while the connection is still being made. */
  handleEvent(): void {
    const failure = failureOfAbort(this.#limits.signal.reason, this.#status);
    this.#fail(failure);
    if (this.#controller !== null) this.#controller.abort(failure);
    else this.#hangUp?.();
  }

  onConnecting(hangUp: () => void): void {
    this.#hangUp = hangUp;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Taken back in the very moment that the connection was there: it must not be sent.
    if (this.#settled) controller.abort(failureOfAbort(this.#limits.signal.reason));
  }

  /** The first byte of an answer. undici still forwards this hook of its older interface. */
  onResponseStarted(): void {
    this.#begun = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status >= 100 && status < 200) return;
    this.#status = status;
    if (status < 100 || status > 599) {
      controller.abort(new ProviderFailure('protocol', 'status is not between 100 and 599'));
      return;
    }
    this.#headers = joinRepeated(headers);
    // Neither has a body (RFC 9110, 6.4.1), though a 304 may carry the length of one: undici would
    // take that for a body cut short.
    if (status === 204 || status === 304) this.#succeed();
    else if (Number(this.#headers['content-length'] ?? 0) > this.#limits.maxResponseBytes) {
      controller.abort(this.#tooLarge());
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > this.#limits.maxResponseBytes) {
      controller.abort(this.#tooLarge());
    } else {
      this.#pieces.push(chunk);
    }
  }

  onResponseEnd(): void {
    this.#succeed();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(failureOfTransport(error, this.#begun, this.#status));
  }

  #succeed(): void {
    if (!this.#settle()) return;
    const body = this.#pieces.length === 0 ? null : this.#pieces;
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  #fail(failure: ProviderFailure): void {
    if (this.#settle()) this.#reject(failure);
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#limits.signal.removeEventListener('abort', this);
    return true;
  }

  #tooLarge(): ProviderFailure {
    return new ProviderFailure(
      'protocol',
      `answer is larger than ${this.#limits.maxResponseBytes} bytes`,
      { status: this.#status },
    );
  }
}

/** undici has made the names lower-case, and lists of the values of a repeated header. */
function joinRepeated(
  headers: Record<string, string | string[] | undefined>,
): Readonly<Record<string, string>> {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value.map(trimEnd).join(', ');
    else if (value !== undefined) headers[name] = trimEnd(value);
  }
  return headers as Readonly<Record<string, string>>;
}

/** The white space after a value is not part of it (RFC 9110, 5.5); the parser takes only that before. */
function trimEnd(value: string): string {
  let end = value.length;
  while (end > 0 && isWhiteSpace(value.charCodeAt(end - 1))) end -= 1;
  return end === value.length ? value : value.slice(0, end);
}

function isWhiteSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
