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
  type FailurePhase,
  isProviderFailure,
  type Log,
  type Outcome,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createAbortFailure } from '../shared/failures.js';
import { formatError } from '../shared/format-error.js';
import { Gate } from '../shared/gate.js';
import { waitForRetry } from '../shared/reconnect.js';
import type { NatsServer } from './connect-options.js';
import { toOutcome } from './outcome.js';
import type { NatsRequest } from './requests.js';
import { UnreadBytes } from './unread-bytes.js';

/** A connection that lasts this long resets the backoff: a server may accept each one and drop it. Milliseconds. */
const STABLE_MS = 5_000;

interface LinkOptions {
  readonly servers: readonly NatsServer[];
  readonly subject: string;
  readonly inbox: string;
  readonly log: Log;
}

interface RequestLimits {
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

/** The reason why the link cannot send. */
interface LinkError {
  readonly failure: FailureCode;
  readonly message: string;
}

/**
 * The connection of one module, which reconnects whenever it is lost. A call fails with the
 * connection that sent it; calls are not queued for the next one.
 */
export class NatsLink {
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  readonly #calls = new Map<string, PendingCall>();
  #connection: NatsConnection | null = null;
  #unread: UnreadBytes | null = null;
  #inbox = '';
  #lastCall = 0;
  #error: LinkError = { failure: 'unavailable', message: 'not connected yet' };
  /** Set when the server denied the subscription of this connection, so that no reply can arrive. */
  #denied: LinkError | null = null;
  #stopped: Promise<void> = Promise.resolve();
  /** Opens after the first attempt to connect: a link is not down right after opening, such as after a reload. */
  readonly #first = new Gate();

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Connects in the background, so that a server that is down delays nothing. */
  start(): void {
    this.#stopped = this.#run();
  }

  async close(): Promise<void> {
    this.#error = { failure: 'unavailable', message: 'module closed' };
    this.#closing.abort();
    this.#first.open();
    this.#failCalls(this.#error, 'responding');
    const connection = this.#connection;
    if (connection === null) return;
    await connection.close();
    await this.#stopped;
  }

  /** @throws ProviderFailure only (as a rejection). */
  async request(request: NatsRequest, limits: RequestLimits): Promise<Outcome> {
    const { signal, maxResponseBytes } = limits;
    if (signal.aborted) throw createAbortFailure(signal.reason, 0, 'connecting');
    if (this.#connection === null) await this.#first.wait(signal);
    const connection = this.#connection;
    if (connection === null) throw toFailure(this.#error, 'connecting');
    if (this.#denied !== null) throw toFailure(this.#denied, 'connecting');
    if (this.#unread?.isFull) throw createUnreadFailure();
    const subject = `${this.#options.subject}.${request.kind}`;
    this.#lastCall += 1;
    const reply = `${this.#inbox}.${this.#lastCall}`;
    return new Promise((resolve, reject) => {
      const abort = {
        handleEvent: () => this.#settle(reply)?.reject(createAbortFailure(signal.reason)),
      };
      signal.addEventListener('abort', abort);
      const release = () => signal.removeEventListener('abort', abort);
      this.#calls.set(reply, { subject, maxResponseBytes, resolve, reject, release });
      try {
        publish(connection, subject, reply, request);
        this.#unread?.add(request.payload.length);
      } catch (cause) {
        this.#settle(reply)?.reject(createPublishFailure(connection, cause));
      }
    });
  }

  async #run(): Promise<void> {
    const { servers, log } = this.#options;
    const { signal } = this.#closing;
    let failures = 0;
    for (let turn = 0; !signal.aborted; turn += 1) {
      const server = servers[turn % servers.length] as NatsServer;
      failures += 1;
      try {
        const connection = await connect(server.options);
        const openedAt = performance.now();
        if (!signal.aborted) {
          this.#begin(connection);
          log.info({ server: server.name }, 'connected to NATS');
        } else await connection.close();
        const error = await connection.closed();
        if (performance.now() - openedAt >= STABLE_MS) failures = 0;
        this.#end(server, createLinkError(error ?? new Error('the server closed the connection')));
      } catch (error) {
        this.#end(server, createLinkError(error));
      }
      if (signal.aborted) return;
      // The first delay applies until each server has failed once.
      await waitForRetry(failures - servers.length, signal);
    }
  }

  #begin(connection: NatsConnection): void {
    const inbox = createInbox(this.#options.inbox);
    this.#inbox = inbox;
    this.#denied = null;
    connection.subscribe(`${inbox}.*`, {
      callback: (error, message) => {
        // Must not throw: the library would stop reading.
        if (error === null) this.#receive(message);
      },
    });
    // Ends with the connection; never rejects.
    void this.#watch(connection);
    this.#connection = connection;
    this.#unread = new UnreadBytes(() => connection.flush());
    this.#first.open();
  }

  #end(server: NatsServer, error: LinkError): void {
    if (this.#closing.signal.aborted) return;
    const isChanged = this.#connection !== null || this.#error.message !== error.message;
    this.#connection = null;
    this.#error = error;
    this.#first.open();
    // Calls that the server denies may have been sent before.
    this.#failCalls(error, error.failure === 'refused' ? 'sending' : 'responding');
    if (!isChanged) return;
    this.#options.log.warn({ server: server.name, reason: error.message }, 'no connection to NATS');
  }

  async #watch(connection: NatsConnection): Promise<void> {
    try {
      for await (const status of connection.status()) {
        if (status.type === 'error') this.#handleServerError(status.error);
      }
    } catch (error) {
      this.#options.log.warn({ err: error }, 'NATS connection status unavailable');
    }
  }

  /** The server reports a denied subject in a separate message, not in a reply. */
  #handleServerError(error: Error): void {
    this.#options.log.warn({ reason: error.message }, 'NATS server reported an error');
    if (!(error instanceof errors.PermissionViolationError)) return;
    const failure = { failure: 'refused', message: `not allowed: ${error.operation}` } as const;
    if (error.operation === 'subscription') {
      this.#denied = failure;
      this.#failCalls(failure, 'sending');
    } else {
      // Of several calls, earlier ones may have been passed on before the server denied the subject.
      const calls = [...this.#calls.values()].filter(({ subject }) => subject === error.subject);
      this.#failCalls(failure, calls.length === 1 ? 'connecting' : 'sending', error.subject);
    }
  }

  #receive(message: Msg): void {
    const call = this.#settle(message.subject);
    // The reply came too late.
    if (call === undefined) return;
    try {
      call.resolve(toOutcome(message, call.maxResponseBytes));
    } catch (cause) {
      call.reject(
        isProviderFailure(cause)
          ? cause
          : new ProviderFailure('protocol', 'the response cannot be read', {
              cause,
              phase: 'answered',
            }),
      );
    }
  }

  #settle(reply: string): PendingCall | undefined {
    const call = this.#calls.get(reply);
    call?.release();
    this.#calls.delete(reply);
    return call;
  }

  #failCalls(error: LinkError, phase: FailurePhase, subject?: string): void {
    for (const [reply, call] of [...this.#calls]) {
      if (subject === undefined || call.subject === subject) {
        this.#settle(reply)?.reject(toFailure(error, phase));
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

function createUnreadFailure(): ProviderFailure {
  const message = 'the NATS server does not read what it is sent';
  return new ProviderFailure('unavailable', message, { phase: 'connecting' });
}

/** The failure of a request that was not sent. */
function createPublishFailure(connection: NatsConnection, cause: unknown): ProviderFailure {
  const options = { cause, phase: 'connecting' } as const;
  if (connection.isClosed()) {
    return new ProviderFailure('unavailable', 'the connection is closed', options);
  }
  const limit = connection.info?.max_payload ?? 0;
  const problem = /max_payload/.test(String(cause))
    ? `headers and body are over ${limit} bytes (max_payload of the server)`
    : 'a header has a line break or an invalid name';
  return new ProviderFailure('refused', `the request cannot be sent: ${problem}`, options);
}

function createLinkError(error: unknown): LinkError {
  const isDenied =
    error instanceof errors.AuthorizationError ||
    error instanceof errors.UserAuthenticationExpiredError;
  const message = formatError(error);
  return { failure: isDenied ? 'refused' : 'unavailable', message: `no connection: ${message}` };
}

function toFailure({ failure, message }: LinkError, phase: FailurePhase): ProviderFailure {
  return new ProviderFailure(failure, message, { phase });
}
