import { AsyncLocalStorage } from 'node:async_hooks';
import { type CallContext, ProviderFailure } from '../../core/contract/index.js';

/** The longest response to a request of the host itself: a handshake, or a page of a list. */
export const OWN_RESPONSE_BYTES = 4 * 1_048_576;

/** Progress beyond it is dropped: each message that counts extends the deadline of its call. */
const MAX_PROGRESS_PER_SECOND = 10;
/** Requests of a server during one of its calls; each is answered with an error. */
const MAX_SERVER_REQUESTS = 100;
/** Bytes beside the response that a server may send at once, and for each second. */
const BURST_BYTES = 1_048_576;
const BYTES_PER_SECOND = 65_536;

/** The members of a response around its result. */
export const ENVELOPE_BYTES = 1_024;

/** Notifications that the client needs. Others are dropped, such as log messages. */
const NOTIFICATIONS: ReadonlySet<unknown> = new Set([
  'notifications/tools/list_changed',
  'notifications/subscriptions/acknowledged',
  'notifications/cancelled',
]);

/** A message of JSON-RPC, of which nothing else is known. */
export interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Returns `null` for a text that is no message of JSON-RPC 2.0. */
export function parseMessage(text: string): Message | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null;
    return isObject && 'jsonrpc' in value && value.jsonrpc === '2.0' ? (value as Message) : null;
  } catch {
    return null;
  }
}

interface ExchangeOptions {
  /** The arguments of the tool as the caller sent them; `null` for none. */
  readonly argumentsJson?: string | null;
  readonly maxResponseBytes: number;
  /** Headers of the call for the server, in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The context of the call; absent for a request of the host itself. */
  readonly context?: CallContext;
  /** Called for each progress that counts. */
  readonly onProgress?: () => void;
  /** Whether the request belongs to the negotiation of a version. */
  readonly isHandshake?: boolean;
}

/** One request to a server, and what arrives for it. */
export class Exchange {
  readonly options: ExchangeOptions;
  /** The message of the response, as it was received. */
  answer: string | null = null;
  /** Whether the server may have got the request. */
  isSent = false;
  /** How often its event stream was opened again. */
  resumes = 0;
  /** Whether the server no longer knows the session, so that it did nothing. */
  isSessionLost = false;
  readonly #controller = new AbortController();
  #failure: ProviderFailure | null = null;
  #id: unknown;
  #serverRequests = 0;
  #second = 0;
  #progress = 0;
  #otherBytes = 0;
  readonly #startedAt = performance.now();

  constructor(options: ExchangeOptions) {
    this.options = options;
  }

  /** Aborted when the request fails. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get failure(): ProviderFailure | null {
    return this.#failure;
  }

  /** Notes the id under which the client sends the request. */
  begin(id: unknown): void {
    this.#id = id;
  }

  /** The first failure counts. */
  fail(failure: ProviderFailure): void {
    if (this.#failure !== null || this.answer !== null) return;
    this.#failure = failure;
    this.#controller.abort(failure);
  }

  failAs(problem: string): void {
    this.fail(new ProviderFailure('protocol', problem, { phase: 'answered' }));
  }

  /**
   * Checks a message that arrived for this request.
   * @returns whether the client gets it
   */
  accept(message: Message, text: string): boolean {
    if (message.method === undefined) return this.#acceptResponse(message, text);
    this.#countOther(text.length);
    if (message.id !== undefined) {
      this.#serverRequests += 1;
      if (this.#serverRequests <= MAX_SERVER_REQUESTS) return true;
      this.failAs(`the server sent more than ${MAX_SERVER_REQUESTS} requests`);
      return false;
    }
    if (message.method === 'notifications/progress') return this.#acceptProgress(message.params);
    return isNeeded(message);
  }

  #acceptResponse(message: Message, text: string): boolean {
    if (message.id !== this.#id) {
      this.failAs('the server sent a response with another id');
      return false;
    }
    if ((message.result === undefined) === (message.error === undefined)) {
      this.failAs('the server sent a response without a result');
      return false;
    }
    if (this.answer !== null) return false;
    const { maxResponseBytes } = this.options;
    if (Buffer.byteLength(text) > maxResponseBytes + ENVELOPE_BYTES) {
      this.fail(createTooLong(maxResponseBytes));
      return false;
    }
    this.answer = text;
    return true;
  }

  /** Tokens of other requests renew nothing. */
  #acceptProgress(params: unknown): boolean {
    const isOwn = readMember(params, 'progressToken') === this.#id;
    if (!isOwn) return false;
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#progress = 0;
    }
    this.#progress += 1;
    return this.#progress <= MAX_PROGRESS_PER_SECOND;
  }

  #countOther(length: number): void {
    this.#otherBytes += length;
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    if (this.#otherBytes > BURST_BYTES + seconds * BYTES_PER_SECOND) {
      this.failAs('the server floods the call with messages');
    }
  }
}

/** Whether the client handles a notification outside of a request. */
export function isNeeded({ method }: Message): boolean {
  return NOTIFICATIONS.has(method);
}

export function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** The failure of a response that is longer than a call may have. */
export function createTooLong(maxBytes: number): ProviderFailure {
  const detail = `response body is over ${maxBytes} bytes`;
  return new ProviderFailure('protocol', 'response is too long', { phase: 'answered', detail });
}

/** Connects a request of the client with what its transport sends and receives. */
export const exchanges = new AsyncLocalStorage<Exchange>();

/**
 * The text of a message for the wire. The client parsed the arguments, which could change numbers: they are
 * sent in the caller's bytes.
 */
export function writeMessage(message: object, exchange: Exchange | undefined): string {
  const argumentsJson = exchange?.options.argumentsJson ?? null;
  if (argumentsJson === null || readMember(message, 'method') !== 'tools/call') {
    return JSON.stringify(message);
  }
  const { params, ...rest } = message as { readonly params: object };
  // It has a name, so that a comma can follow.
  const head = JSON.stringify({ ...rest, params: { ...params, arguments: undefined } });
  return `${head.slice(0, -2)},"arguments":${argumentsJson}}}`;
}

const STRUCTURE = /["{}[\],:]/g;

/**
 * The text of the member `result` of a message that JSON.parse accepts.
 * @returns `null` without the member
 */
export function sliceResult(text: string): string | null {
  let depth = 0;
  let name = '';
  let start = -1;
  let result: string | null = null;
  let isName = false;
  STRUCTURE.lastIndex = 0;
  for (let match = STRUCTURE.exec(text); match !== null; match = STRUCTURE.exec(text)) {
    const { index } = match;
    const character = match[0];
    if (character === '"') {
      const end = endOfString(text, index);
      if (depth === 1 && isName) name = JSON.parse(text.slice(index, end)) as string;
      STRUCTURE.lastIndex = end;
    } else if (character === '{' || character === '[') {
      depth += 1;
      isName = depth === 1;
    } else if (depth > 1) {
      if (character === '}' || character === ']') depth -= 1;
    } else if (character === ':') {
      start = index + 1;
      isName = false;
    } else {
      if (name === 'result' && start !== -1) result = text.slice(start, index).trim();
      start = -1;
      isName = true;
    }
  }
  return result;
}

/** @returns the index behind the closing quote */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
