import type { AMQPMessage } from '@cloudamqp/amqp-client';
import {
  type Cancellation,
  type Log,
  type Outcome,
  type ProviderFact,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createAbortFailure, Gate, waitForRetry } from '../shared/transport.js';
import { Alarm } from './alarm.js';
import { BrokerConnection, type BrokerLogin, type Confirm } from './broker-connection.js';
import { BrokerError, escapeReason, parseReason, toBrokerError } from './broker-error.js';
import type { BrokerAddress, BrokerAddresses } from './brokers.js';
import { type AnswerLimits, toOutcome } from './outcome.js';
import type { AmqpRequest } from './requests.js';
import { Session } from './session.js';
import { type Target, TargetWatch } from './target-watch.js';

/** The time for connection, TLS, login and channel together, below the default timeout of a module (5 s). */
const CONNECT_TIMEOUT_MS = 4_000;

/** How long calls wait for a connection or channel that was lost. */
const MAX_WAIT_MS = 1_000;

/** Rejected credentials are rarely accepted soon. */
const REFUSED_BACKOFF = { firstMs: 100, maxMs: 30_000 };
/** A connection that lasts this long resets the backoff. */
const STABLE_MS = 5_000;
/** A channel that the broker closes again and again, such as for a missing exchange. */
const CHANNEL_BACKOFF = { firstMs: 100, maxMs: 1_000 };

/** The most bytes that wait in this process because the broker does not read. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
/** Messages of one channel, most of whose calls have ended. */
const MAX_UNCONFIRMED = 10_000;
/** Shorter bodies are read before their call is known. Bytes. */
const SMALL_BODY_BYTES = 65_536;

interface LinkOptions {
  readonly addresses: BrokerAddresses;
  readonly login: BrokerLogin;
  readonly target: Target;
  readonly reply: 'direct' | 'queue';
  readonly log: Log;
  readonly onLateAnswer: () => void;
}

interface PendingCall {
  readonly session: Session;
  readonly limits: AnswerLimits;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (failure: ProviderFailure) => void;
  readonly release: () => void;
}

const NOT_CONNECTED = new BrokerError('not connected yet');
const CLOSED = new BrokerError('module closed');

/**
 * The connection of one module, which reconnects whenever it is lost. A call fails with the channel that sent it;
 * calls are not queued for the next one.
 */
export class AmqpLink {
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  /** Rejects when the link is closed. */
  readonly #closed: Promise<never>;
  readonly #calls = new Map<string, PendingCall>();
  #connection: BrokerConnection | null = null;
  /** Whether it has answered a call. */
  #hasAnswered = false;
  #session: Session | null = null;
  #watch: TargetWatch | null = null;
  readonly #alarm: Alarm;
  /** Why there is no session. */
  #error = NOT_CONNECTED;
  /** The reason that was logged last. */
  #reported = '';
  /** The address of the last attempt, for operators. */
  #broker = '';
  #stopped: Promise<void> = Promise.resolve();
  /** Calls wait for it: the first attempt to connect, and the first one after a loss. */
  #opening: Gate | null = new Gate();
  /** Calls wait for the first attempt as long as it takes. */
  #maxWaitMs: number | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.log);
    this.#closed = new Promise((_resolve, reject) => {
      this.#closing.signal.addEventListener('abort', () => reject(CLOSED));
    });
    this.#closed.catch(() => {});
  }

  /** Connects in the background, so that a broker that is down delays nothing. */
  start(): void {
    this.#stopped = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const session = this.#session;
    if (session !== null) this.#endSession(session, CLOSED);
    this.#report(CLOSED, true);
    await this.#connection?.shutDown();
    await this.#stopped;
  }

  facts(): ProviderFact[] {
    const name = 'broker';
    if (this.#session === null) {
      return [{ name, value: this.#error.description, problem: this.#error !== NOT_CONNECTED }];
    }
    if (this.#alarm.reason !== null) {
      return [{ name, value: `does not accept messages: ${this.#alarm.reason}`, problem: true }];
    }
    const broker = { name, value: `connected to ${this.#broker}` };
    if (this.#watch?.hasNoConsumer !== true) return [broker];
    return [broker, { name: 'queue', value: 'has no consumer', problem: true }];
  }

  /** @throws ProviderFailure unless messages can be sent. */
  async ready(signal: Cancellation): Promise<Session> {
    if (signal.aborted) throw createAbortFailure(signal.reason, 0, 'connecting');
    if (this.#session === null) await this.#opening?.wait(signal, this.#maxWaitMs);
    return this.#getSession(signal);
  }

  /** @throws ProviderFailure unless messages can be sent now. */
  #getSession(signal: Cancellation): Session {
    if (signal.aborted) throw createAbortFailure(signal.reason, 0, 'connecting');
    if (this.#session === null) throw this.#error.toFailure('connecting');
    if (this.#alarm.reason !== null) {
      throw createUnavailable(`the broker does not accept messages: ${this.#alarm.reason}`);
    }
    return this.#session;
  }

  /** @throws ProviderFailure unless the broker answers, and has the target. */
  async check(signal: AbortSignal): Promise<void> {
    const { connection } = await this.ready(signal);
    const watch = this.#watch ?? new TargetWatch(connection, this.#options.target);
    const late = new Gate();
    signal.addEventListener('abort', () => late.open(), { once: true });
    try {
      await Promise.race([watch.look(), connection.ended, late.opened]);
    } catch (error) {
      throw toBrokerError(error).toFailure('connecting');
    }
    if (signal.aborted) throw createAbortFailure(signal.reason);
  }

  /** @throws ProviderFailure only (as a rejection). */
  async request(
    { body, properties }: AmqpRequest,
    limits: AnswerLimits,
    signal: Cancellation,
  ): Promise<Outcome> {
    await this.ready(signal);
    const end = performance.now() + MAX_WAIT_MS;
    // Nothing is awaited between the look at the session and the message.
    let session = this.#getSession(signal);
    while (session.connection.unsentBytes >= MAX_UNSENT_BYTES) {
      const leftMs = end - performance.now();
      if (leftMs <= 0) throw createUnavailable('the broker does not read what it is sent');
      await session.connection.drained.wait(signal, leftMs);
      session = this.#getSession(signal);
    }
    const { connection, channel, replyTo, unconfirmed } = session;
    if (unconfirmed.size >= MAX_UNCONFIRMED) {
      connection.destroy(new BrokerError('the broker confirms no messages'));
      throw this.#error.toFailure('connecting');
    }
    const { exchange, routingKey } = this.#options.target;
    const id = session.createCorrelationId();
    const sent = { ...properties, correlationId: id, replyTo };
    try {
      connection.publish(channel.id, { exchange, routingKey, properties: sent }, body);
    } catch {
      const problem = `headers are over ${connection.frameMax} bytes or content-type is over 255`;
      const message = `the request cannot be sent: ${problem}`;
      throw new ProviderFailure('refused', message, { phase: 'connecting' });
    }
    session.expectConfirm(id);
    this.#watch?.count();
    return new Promise((resolve, reject) => {
      const abort = {
        handleEvent: () => this.#settle(id)?.reject(this.#createAbort(signal)),
      };
      signal.addEventListener('abort', abort);
      const release = () => signal.removeEventListener('abort', abort);
      this.#calls.set(id, { session, limits, resolve, reject, release });
    });
  }

  #createAbort({ reason }: Cancellation): ProviderFailure {
    const failure = createAbortFailure(reason);
    if (failure.failure !== 'timeout' || this.#watch?.hasNoConsumer !== true) return failure;
    const detail = `${failure.message}: the queue ${this.#options.target.queue} has no consumer`;
    return new ProviderFailure('timeout', failure.message, { detail });
  }

  async #run(): Promise<void> {
    const { addresses } = this.#options;
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      let openedAt: number | null = null;
      try {
        const address = await Promise.race([addresses.next(), this.#closed]);
        this.#broker = address.name;
        const connection = this.#createConnection(address);
        await withTimeout(connection, () => connection.connect());
        await this.#serve(connection, () => {
          openedAt ??= performance.now();
        });
      } catch (error) {
        // A broker that accepts each connection and drops it is not connected to without a pause.
        const lastedMs = openedAt === null ? 0 : performance.now() - openedAt;
        const wasUseful = this.#hasAnswered || lastedMs >= STABLE_MS;
        failures = wasUseful ? 1 : failures + 1;
        if (wasUseful) addresses.forget();
        this.#report(toBrokerError(error), openedAt !== null);
      }
      this.#connection?.destroy(CLOSED);
      // The first delay applies until each broker has failed once.
      const backoff = this.#error.failure === 'refused' ? REFUSED_BACKOFF : undefined;
      await waitForRetry(failures - addresses.size, signal, backoff);
    }
  }

  #createConnection(address: BrokerAddress): BrokerConnection {
    const connection = new BrokerConnection(address, this.#options.login, {
      confirmed: (confirm) => this.#confirm(confirm),
      wantsBody: (bytes) => bytes <= SMALL_BODY_BYTES || this.#isAwaited(bytes),
      blocked: (reason) => this.#alarm.change(reason, this.#broker),
    });
    this.#connection = connection;
    this.#hasAnswered = false;
    this.#alarm.reason = null;
    return connection;
  }

  /**
   * Opens channels until the connection ends.
   * @throws Error at its end.
   */
  async #serve(connection: BrokerConnection, onOpen: () => void): Promise<void> {
    const { target, reply, log } = this.#options;
    this.#watch = new TargetWatch(connection, target);
    for (let closes = 0; ; closes += 1) {
      const session = await withTimeout(connection, () =>
        Session.open(connection, reply, {
          answered: (message) => this.#receive(connection, message),
          returned: (message) => this.#return(message),
          ended: (ended, reason) => this.#endSession(ended, parseReason(reason)),
        }),
      );
      onOpen();
      if (closes === 0) {
        this.#reported = '';
        log.info({ broker: this.#broker }, 'connected to RabbitMQ');
      }
      this.#session = session;
      this.#stopWaiting();
      const error = parseReason(await Promise.race([session.ended, connection.ended]));
      if (error.scope !== 'channel') throw error;
      if (session.hasConfirmed) closes = 0;
      if (closes === 0) continue;
      // A channel that the broker closes again and again is not waited for.
      this.#stopWaiting();
      await waitForRetry(closes - 1, this.#closing.signal, CHANNEL_BACKOFF);
      if (connection.closed) throw new BrokerError('the connection was lost');
    }
  }

  /** Reports why there is no connection. Calls wait for a connection that was just lost. */
  #report(error: BrokerError, isLost: boolean): void {
    const isClosing = this.#closing.signal.aborted;
    this.#error = isClosing ? CLOSED : error;
    this.#watch = null;
    if (isClosing || !isLost) this.#stopWaiting();
    if (!isClosing) this.#logOnce(error, 'no connection to RabbitMQ');
  }

  /** One line for each reason: it may come again with each attempt, or each call. */
  #logOnce({ message }: BrokerError, text: string): void {
    if (this.#reported === message) return;
    this.#reported = message;
    this.#options.log.warn({ broker: this.#broker, reason: message }, text);
  }

  #startWaiting(): void {
    this.#opening = new Gate();
    this.#maxWaitMs = MAX_WAIT_MS;
  }

  #stopWaiting(): void {
    this.#opening?.open();
    this.#opening = null;
  }

  /** The channel was lost, perhaps with its connection. */
  #endSession(session: Session, error: BrokerError): void {
    if (this.#session !== session) return;
    this.#session = null;
    this.#error = error;
    if (error !== CLOSED) this.#startWaiting();
    if (session.hasConfirmed) this.#reported = '';
    if (error.scope === 'channel') this.#logOnce(error, 'AMQP channel lost');
    // A broker closes the channel for one message, so that one alone was not queued.
    const [only] = session.unconfirmed.size === 1 ? session.unconfirmed.values() : [];
    for (const [id, { session: own }] of [...this.#calls]) {
      if (own !== session) continue;
      const isCause = id === only && error.isForMessage;
      this.#settle(id)?.reject(isCause ? error.toFailure('connecting') : error.toLoss());
    }
  }

  #confirm({ channel, tag, upTo, isAccepted }: Confirm): void {
    const session = this.#session;
    if (session === null || session.channel.id !== channel) return;
    for (const id of session.takeConfirmed(tag, upTo)) {
      if (isAccepted) session.hasConfirmed = true;
      else this.#settle(id)?.reject(createUnavailable('the broker rejected the message'));
    }
  }

  /** The broker returns a message before it confirms it. */
  #return({ properties, replyText = '' }: AMQPMessage): void {
    const reason = escapeReason(replyText);
    const failure = createUnavailable(`no queue takes the message: ${reason}`);
    this.#settle(properties.correlationId ?? '')?.reject(failure);
  }

  #receive(connection: BrokerConnection, message: AMQPMessage): void {
    const skippedBytes = connection.takeSkipped(message.deliveryTag);
    const call = this.#settle(message.properties.correlationId ?? '');
    if (call === undefined) {
      this.#options.onLateAnswer();
      return;
    }
    try {
      call.resolve(toOutcome(message, skippedBytes, call.limits));
      this.#hasAnswered = true;
    } catch (error) {
      call.reject(error as ProviderFailure);
    }
  }

  /** Whether a call may have a body of that length. */
  #isAwaited(bytes: number): boolean {
    for (const { limits } of this.#calls.values()) {
      if (limits.maxResponseBytes >= bytes && !limits.isHead) return true;
    }
    return false;
  }

  #settle(id: string): PendingCall | undefined {
    const call = this.#calls.get(id);
    call?.release();
    this.#calls.delete(id);
    return call;
  }
}

/** A failure of a call that the broker has not queued. */
function createUnavailable(message: string): ProviderFailure {
  return new ProviderFailure('unavailable', message, { phase: 'connecting' });
}

/** @throws Error when the connection ends or has not done it in time. */
async function withTimeout<T>(connection: BrokerConnection, work: () => Promise<T>): Promise<T> {
  const late = new BrokerError(`no answer within ${CONNECT_TIMEOUT_MS} ms`);
  const timer = setTimeout(() => connection.destroy(late), CONNECT_TIMEOUT_MS);
  try {
    return await Promise.race([work(), connection.ended]);
  } finally {
    clearTimeout(timer);
  }
}
