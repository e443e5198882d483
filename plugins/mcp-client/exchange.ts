import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type CallContext,
  type Progress,
  ProviderFailure,
  type Secret,
} from '../../core/contract/index.js';

/** The longest response to a request of the host itself: a handshake, or a page of a list. */
export const OWN_RESPONSE_BYTES = 4 * 1_048_576;

/** Progress beyond it is dropped: each message that counts extends the deadline of its call. */
const MAX_PROGRESS_PER_SECOND = 10;
/** Requests of a server in a minute on one stream; each is answered, pings with a result. */
const MAX_SERVER_REQUESTS = 100;
const MINUTE_MS = 60_000;
/** Bytes beside the response that a server may send at once, and for each second. */
const BURST_BYTES = 1_048_576;
const BYTES_PER_SECOND = 65_536;
const MAX_BATCH = 100;
const BURST_MESSAGES = 1_000;
const MESSAGES_PER_SECOND = 200;
/** Of the message of an error, in UTF-16 units: more than the host shows, which masks it before it cuts it. */
const MAX_ERROR_LENGTH = 4_000;

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
    return isMessage(value) ? value : null;
  } catch {
    return null;
  }
}

/** A message with its text. */
export interface Received {
  readonly message: Message;
  readonly text: string;
}

/** The messages of a text: one, or those of a batch, as 2025-03-26 has them. None for any other text. */
export function parseMessages(text: string): readonly Received[] {
  const message = parseMessage(text);
  if (message !== null) return [{ message, text }];
  if (!/^[ \t\r\n]*\[/.test(text)) return [];
  const all = sliceItems(text).map((item) => ({ message: parseMessage(item), text: item }));
  return all.every((received): received is Received => received.message !== null) ? all : [];
}

function isMessage(value: unknown): value is Message {
  if (readMember(value, 'jsonrpc') !== '2.0') return false;
  const method = readMember(value, 'method');
  const id = readMember(value, 'id');
  const isId = id === undefined || id === null || typeof id === 'string' || typeof id === 'number';
  return isId && (method === undefined || typeof method === 'string');
}

interface ExchangeOptions {
  /** The arguments of the tool as the caller sent them; `null` for none. */
  readonly argumentsJson?: string | null;
  readonly maxResponseBytes: number;
  /** Headers of the call for the server, in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The context of the call; absent for a request of the host itself. */
  readonly context?: CallContext;
  /** Counts bytes as they arrive, for the memory budget of the host. */
  readonly countReceived?: (bytes: number) => void;
  /** Called for each progress that counts. */
  readonly onProgress?: (progress: Progress) => void;
  /** The problem of a result; `null` for a good one. Default: any result is good. */
  readonly check?: (result: unknown) => string | null;
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
  /** Whether it was sent in a session. */
  hasSession = false;
  /** How the server rejected it without an answer, which may mean that it no longer knows the session. */
  sessionDoubt: 'rejected' | 'denied' | null = null;
  /** Of a handshake: whether it has ended, so that what it left open is the stream of notifications. */
  hasEnded = false;
  /** Credentials that its requests carried beside those of the config. */
  readonly secrets: Secret[] = [];
  readonly #controller = new AbortController();
  #failure: ProviderFailure | null = null;
  #id: unknown;
  #minute = 0;
  #serverRequests = 0;
  #second = 0;
  #progress = 0;
  readonly #budget: MessageBudget;

  constructor(options: ExchangeOptions) {
    this.options = options;
    this.#budget = new MessageBudget(BURST_BYTES + options.maxResponseBytes);
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
   * @returns what the client gets; `null` for nothing
   */
  accept({ message, text }: Received): object | null {
    if (message.method === undefined) return this.#acceptResponse(message, text);
    if (message.id !== undefined) return this.#acceptRequest(message);
    const isProgress = message.method === 'notifications/progress';
    const isWanted = isProgress ? this.#acceptProgress(message.params) : isNeeded(message);
    return isWanted ? message : null;
  }

  /** Counts all that arrives for it, its response included. */
  count(bytes: number, messages: number): void {
    this.options.countReceived?.(bytes);
    if (!this.#budget.admits(bytes, messages)) {
      this.failAs('the server floods the call with messages');
    }
  }

  /** Whether a message is the response to this request. */
  isAnswered({ id }: Message): boolean {
    return this.#isOwnId(id);
  }

  /** Some servers turn the number of the client into a text. */
  #isOwnId(id: unknown): boolean {
    return id === this.#id || (typeof id === 'string' && id === String(this.#id));
  }

  #acceptRequest(message: Message): object | null {
    const minute = Math.floor(performance.now() / MINUTE_MS);
    if (minute !== this.#minute) this.#serverRequests = 0;
    this.#minute = minute;
    this.#serverRequests += 1;
    if (this.#serverRequests <= MAX_SERVER_REQUESTS) return message;
    this.failAs(`the server sent more than ${MAX_SERVER_REQUESTS} requests in a minute`);
    return null;
  }

  #acceptResponse(message: Message, text: string): object | null {
    const { maxResponseBytes, isHandshake, check } = this.options;
    if (!this.isAnswered(message)) this.failAs('the server sent a response with another id');
    else if ((message.result === undefined) === (message.error === undefined)) {
      this.failAs('the server sent a response without a result');
    } else if (Buffer.byteLength(text) > maxResponseBytes + ENVELOPE_BYTES) {
      this.fail(createTooLong(maxResponseBytes));
    } else {
      const problem = message.error === undefined ? (check?.(message.result) ?? null) : null;
      if (problem !== null) this.failAs(problem);
    }
    if (this.#failure !== null || this.answer !== null) return null;
    this.answer = text;
    return isHandshake === true ? message : shortenResponse(message);
  }

  /** Tokens of other requests renew nothing. */
  #acceptProgress(params: unknown): boolean {
    if (!this.#isOwnId(readMember(params, 'progressToken'))) return false;
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#progress = 0;
    }
    this.#progress += 1;
    return this.#progress <= MAX_PROGRESS_PER_SECOND;
  }
}

/** A good result of every method. */
const EMPTY_RESULT = {
  ...{ resultType: 'complete', ttlMs: 0, cacheScope: 'private' },
  ...{ content: [], contents: [], prompts: [], resourceTemplates: [], resources: [], tools: [] },
};

/**
 * The response for the client library, which would validate each part of a result at great cost: the host takes the
 * result from the text.
 */
function shortenResponse({ id, error }: Message): object {
  if (error === undefined) return { jsonrpc: '2.0', id, result: EMPTY_RESULT };
  const code = readMember(error, 'code');
  const message = readMember(error, 'message');
  return {
    jsonrpc: '2.0',
    id,
    error: {
      code: Number.isSafeInteger(code) ? code : 0,
      message: typeof message === 'string' ? message.slice(0, MAX_ERROR_LENGTH) : '',
    },
  };
}

/** Bounds what a server sends unasked: a burst, and so much for each second. */
export class MessageBudget {
  readonly #burstBytes: number;
  readonly #startedAt = performance.now();
  #bytes = 0;
  #messages = 0;

  constructor(burstBytes: number) {
    this.#burstBytes = burstBytes;
  }

  /** Counts, and returns whether that is still within bounds. */
  admits(bytes: number, messages: number): boolean {
    this.#bytes += bytes;
    this.#messages += messages;
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    return (
      this.#bytes <= this.#burstBytes + seconds * BYTES_PER_SECOND &&
      this.#messages <= BURST_MESSAGES + seconds * MESSAGES_PER_SECOND
    );
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
  // Outside of texts, where JSON has no line breaks: over stdio, one would end the message.
  const line = argumentsJson.replaceAll(/[\r\n]/g, ' ');
  return `${head.slice(0, -2)},"arguments":${line}}}`;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
/** `{`, `[`, and their ends. */
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b]);
const CLOSING: ReadonlySet<number> = new Set([0x7d, 0x5d]);

/**
 * The text of the member `result` of a message that JSON.parse accepts.
 * @returns `null` without the member
 */
export function sliceResult(text: string): string | null {
  let depth = 0;
  let name = '';
  let start = -1;
  let result: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (depth === 1 && start === -1) name = JSON.parse(text.slice(at, end)) as string;
      at = end - 1;
    } else if (OPENING.has(code)) depth += 1;
    else if (depth === 1 && code === COLON) start = at + 1;
    else if (depth === 1 && (code === COMMA || CLOSING.has(code))) {
      if (name === 'result' && start !== -1) result = text.slice(start, at).trim();
      start = -1;
      if (code !== COMMA) depth -= 1;
    } else if (CLOSING.has(code)) depth -= 1;
  }
  return result;
}

/** The texts of the items of an array, whose JSON is checked later. None for a longer one than a batch may be. */
function sliceItems(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (OPENING.has(code)) {
      depth += 1;
      if (depth === 1) start = at + 1;
    } else if (depth === 1 && (code === COMMA || CLOSING.has(code))) {
      if (items.length === MAX_BATCH) return [];
      items.push(text.slice(start, at));
      start = at + 1;
      if (code !== COMMA) return text.slice(start).trim() === '' ? items : [];
    } else if (CLOSING.has(code)) depth -= 1;
  }
  return [];
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
