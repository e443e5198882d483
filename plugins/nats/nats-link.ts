import { setTimeout as pause } from 'node:timers/promises';
import {
  connect,
  headers as createHeaders,
  createInbox,
  errors,
  type Msg,
  type NatsConnection,
} from '@nats-io/transport-node';
import {
  type Cancellation,
  type FailureCode,
  isProviderFailure,
  type Log,
  type Outcome,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createAbortFailure } from '../shared/failures.js';
import type { NatsServer } from './connect-options.js';
import { toOutcome } from './outcome.js';
import type { NatsRequest } from './requests.js';

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;
/** Hosts that lost one server together do not come back together. A share of the pause. */
const JITTER = 0.3;

export interface LinkOptions {
  readonly servers: readonly NatsServer[];
  readonly subject: string;
  readonly inbox: string;
  readonly log: Log;
}

export interface RequestLimits {
  readonly maxResponseBytes: number;
  readonly signal: Cancellation;
}

interface PendingCall {
  readonly subject: string;
  readonly maxResponseBytes: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (failure: ProviderFailure) => void;
  readonly release: () => void;
}

/** Why nothing can be sent. */
interface LinkError {
  readonly failure: FailureCode;
  readonly message: string;
}

/**
 * The connection of one module, made again whenever it ends. A call belongs to the connection it was sent on: it
 * fails with that, and nothing is ever sent later than it was asked for.
 */
export class NatsLink {
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  readonly #calls = new Map<string, PendingCall>();
  #connection: NatsConnection | null = null;
  #inbox = '';
  #lastCall = 0;
  #trouble: LinkError = { failure: 'unavailable', message: 'no connection to a server yet' };
  #stopped: Promise<void> = Promise.resolve();
  /** Settled when the first attempt to connect has ended, however it did. */
  readonly #first: Promise<void>;
  #endFirst: () => void = () => {};

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#first = new Promise((resolve) => {
      this.#endFirst = resolve;
    });
  }

  /** Connects in its own time; a server that is down holds up nobody. */
  start(): void {
    this.#stopped = this.#run();
  }

  async close(): Promise<void> {
    this.#trouble = { failure: 'unavailable', message: 'the module is closed' };
    this.#closing.abort();
    this.#endFirst();
    this.#failCalls(this.#trouble);
    const connection = this.#connection;
    if (connection === null) return;
    await connection.close();
    await this.#stopped;
  }

  /** @throws ProviderFailure (as a rejection), and nothing else. */
  async request(request: NatsRequest, limits: RequestLimits): Promise<Outcome> {
    const { signal, maxResponseBytes } = limits;
    if (signal.aborted) throw createAbortFailure(signal.reason);
    if (this.#connection === null) await this.#waitForFirst(signal);
    const connection = this.#connection;
    if (connection === null) throw toFailure(this.#trouble);
    const subject = `${this.#options.subject}.${request.kind}`;
    this.#lastCall += 1;
    const reply = `${this.#inbox}.${this.#lastCall}`;
    return new Promise((resolve, reject) => {
      const takeBack = {
        handleEvent: () => this.#settle(reply)?.reject(createAbortFailure(signal.reason)),
      };
      signal.addEventListener('abort', takeBack);
      const release = () => signal.removeEventListener('abort', takeBack);
      this.#calls.set(reply, { subject, maxResponseBytes, resolve, reject, release });
      try {
        publish(connection, subject, reply, request);
      } catch (cause) {
        this.#settle(reply)?.reject(explainPublish(connection, cause));
      }
    });
  }

  /** A version that has just been opened, by a reload perhaps, is not down because it is new. */
  #waitForFirst(signal: Cancellation): Promise<void> {
    return new Promise((resolve, reject) => {
      const takeBack = { handleEvent: () => reject(createAbortFailure(signal.reason)) };
      signal.addEventListener('abort', takeBack);
      void this.#first.then(() => {
        signal.removeEventListener('abort', takeBack);
        resolve();
      });
    });
  }

  async #run(): Promise<void> {
    const { servers, log } = this.#options;
    const { signal } = this.#closing;
    let failures = 0;
    for (let turn = 0; !signal.aborted; turn += 1) {
      const server = servers[turn % servers.length] as NatsServer;
      try {
        const connection = await connect(server.options);
        failures = 0;
        if (!signal.aborted) {
          this.#begin(connection);
          log.info({ server: server.name }, 'connected to NATS');
        } else await connection.close();
        const error = await connection.closed();
        this.#end(server, describe(error ?? new Error('the server closed the connection')));
      } catch (error) {
        failures += 1;
        this.#end(server, describe(error));
      }
      if (signal.aborted) return;
      await backoffFor(failures - servers.length, signal);
    }
  }

  #begin(connection: NatsConnection): void {
    const inbox = createInbox(this.#options.inbox);
    this.#inbox = inbox;
    connection.subscribe(`${inbox}.*`, {
      callback: (error, message) => {
        // Nothing may be thrown here: the library would stop to read.
        if (error === null) this.#receive(message);
      },
    });
    // It ends with the connection and catches what it may throw.
    void this.#watch(connection);
    this.#connection = connection;
    this.#endFirst();
  }

  #end(server: NatsServer, trouble: LinkError): void {
    if (this.#closing.signal.aborted) return;
    const isNews = this.#connection !== null || this.#trouble.message !== trouble.message;
    this.#connection = null;
    this.#trouble = trouble;
    this.#endFirst();
    this.#failCalls(trouble);
    if (!isNews) return;
    this.#options.log.warn(
      { server: server.name, reason: trouble.message },
      'no connection to NATS',
    );
  }

  async #watch(connection: NatsConnection): Promise<void> {
    try {
      for await (const status of connection.status()) {
        if (status.type === 'error') this.#heed(status.error);
      }
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the state of the connection cannot be followed');
    }
  }

  /** The server refuses a subject by a message of its own, not by an answer. */
  #heed(error: Error): void {
    this.#options.log.warn({ reason: error.message }, 'the NATS server refused something');
    if (!(error instanceof errors.PermissionViolationError)) return;
    const failure = { failure: 'refused', message: `not allowed: ${error.operation}` } as const;
    // Without its inbox no call can be answered.
    if (error.operation === 'subscription') this.#failCalls(failure);
    else this.#failCalls(failure, error.subject);
  }

  #receive(message: Msg): void {
    const call = this.#settle(message.subject);
    // It came too late.
    if (call === undefined) return;
    try {
      call.resolve(toOutcome(message, call.maxResponseBytes));
    } catch (cause) {
      call.reject(
        isProviderFailure(cause)
          ? cause
          : new ProviderFailure('protocol', 'the answer cannot be read', { cause }),
      );
    }
  }

  #settle(reply: string): PendingCall | undefined {
    const call = this.#calls.get(reply);
    call?.release();
    this.#calls.delete(reply);
    return call;
  }

  #failCalls(trouble: LinkError, subject?: string): void {
    for (const [reply, call] of [...this.#calls]) {
      if (subject === undefined || call.subject === subject) {
        this.#settle(reply)?.reject(toFailure(trouble));
      }
    }
  }
}

function publish(
  connection: NatsConnection,
  subject: string,
  reply: string,
  request: NatsRequest,
): void {
  const headers = createHeaders();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, value);
  connection.publish(subject, request.payload, { headers, reply });
}

/** Nothing was sent. */
function explainPublish(connection: NatsConnection, cause: unknown): ProviderFailure {
  if (connection.isClosed()) {
    return new ProviderFailure('unavailable', 'the connection is closed', { cause });
  }
  const limit = connection.info?.max_payload ?? 0;
  const why = /max_payload/.test(String(cause))
    ? `headers and body may have ${limit} bytes (max_payload of the server)`
    : 'a header has a line break, or a name that NATS has not';
  return new ProviderFailure('refused', `the request cannot be sent: ${why}`, { cause });
}

function describe(error: unknown): LinkError {
  const isDenied =
    error instanceof errors.AuthorizationError ||
    error instanceof errors.UserAuthenticationExpiredError;
  const message = error instanceof Error ? error.message : 'for a reason that is no error';
  return { failure: isDenied ? 'refused' : 'unavailable', message: `no connection: ${message}` };
}

function toFailure({ failure, message }: LinkError): ProviderFailure {
  return new ProviderFailure(failure, message);
}

/** The shortest until each server has failed once. */
async function backoffFor(rounds: number, signal: AbortSignal): Promise<void> {
  const pauseMs = Math.min(FIRST_BACKOFF_MS * 2 ** Math.max(0, rounds), MAX_BACKOFF_MS);
  const jitter = 1 + JITTER * (2 * Math.random() - 1);
  try {
    await pause(pauseMs * jitter, undefined, { signal });
  } catch {
    // The module was closed: the loop sees that.
  }
}
