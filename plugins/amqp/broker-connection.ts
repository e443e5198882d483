import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AMQPBaseClient } from '@cloudamqp/amqp-client';
import { Gate } from '../shared/transport.js';
import type { BrokerAddress } from './brokers.js';
import { LARGEST_MESSAGE_BYTES } from './config.js';
import {
  type Envelope,
  FRAME,
  FrameReader,
  HEARTBEAT,
  METHOD,
  MessageWriter,
  PROTOCOL_HEADER,
  toView,
} from './frames.js';

/** Asked for; the broker may lower it. Bytes. */
const MAX_FRAME_BYTES = 131_072;
/** The least that a broker may negotiate (AMQP 0-9-1, 4.2.3). Bytes. */
const LEAST_FRAME_BYTES = 4_096;
const HEARTBEAT_S = 10;
/** Without a byte for two heartbeats the connection is lost. */
const LOST_HEARTBEATS = 2;
/** Heartbeats are sent twice as often as agreed. */
const SENT_HEARTBEATS = 2;
/** Messages whose bodies were skipped, and which no consumer has taken. */
const MAX_SKIPPED = 1_000;
const CHECK_INTERVAL_MS = 1_000;
/** The time for the closing handshake. */
const CLOSE_TIMEOUT_MS = 500;

export interface BrokerLogin {
  readonly virtualHost: string;
  readonly username: string;
  readonly password: string;
  /** Shown in the management of the broker. */
  readonly connectionName: string;
}

/** The broker accepted or rejected messages of a channel. */
export interface Confirm {
  readonly channel: number;
  readonly tag: number;
  /** Whether it is about all messages up to the tag. */
  readonly upTo: boolean;
  readonly isAccepted: boolean;
}

export interface BrokerEvents {
  confirmed(confirm: Confirm): void;
  /** Whether a body of that length is wanted; the body of any other message is skipped. */
  wantsBody(bytes: number): boolean;
  /** The broker stopped accepting messages, for the reason; `null`: it accepts them again. */
  blocked(reason: string | null): void;
}

/**
 * A connection to a broker. The library knows the protocol; the socket, the bounds of what the broker sends and the
 * heartbeats are here.
 */
export class BrokerConnection extends AMQPBaseClient {
  /** Rejects when the connection has ended. */
  readonly ended: Promise<never>;
  readonly #address: BrokerAddress;
  readonly #events: BrokerEvents;
  readonly #frames = new FrameReader(MAX_FRAME_BYTES, (frame) => this.#receive(frame));
  /** Bytes of skipped bodies that are still to come, by channel. */
  readonly #skipped = new Map<number, number>();
  /** Lengths of skipped bodies, by delivery tag. */
  readonly #skippedLengths = new Map<number, number>();
  #deliveryTag = 0;
  #socket: Socket | null = null;
  #writer = new MessageWriter(LEAST_FRAME_BYTES);
  #heartbeats: NodeJS.Timeout | undefined;
  #receivedAt = 0;
  #sentAt = 0;
  #reject: (error: Error) => void = () => {};
  #hasEnded = false;
  #drained = new Gate();

  constructor(address: BrokerAddress, login: BrokerLogin, events: BrokerEvents) {
    const { virtualHost, username, password, connectionName } = login;
    const platform = `Node.js ${process.version}`;
    super(
      ...([virtualHost, username, password, connectionName, platform] as const),
      ...([MAX_FRAME_BYTES, HEARTBEAT_S] as const),
    );
    this.#address = address;
    this.#events = events;
    this.ended = new Promise((_resolve, reject) => {
      this.#reject = reject;
    });
    // It may end while nothing waits.
    this.ended.catch(() => {});
    this.onerror = () => {};
    this.onblocked = (reason) => events.blocked(reason);
    this.onunblocked = () => events.blocked(null);
  }

  /** @throws Error when the broker does not accept the connection. */
  override async connect(): Promise<this> {
    const opened = new Promise<void>((resolve, reject) => {
      this.connectPromise = [() => resolve(), reject];
    });
    const { host, port, tls } = this.#address;
    const socket = tls === null ? connectTcp({ host, port }) : connectTls({ host, port, ...tls });
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.once(tls === null ? 'connect' : 'secureConnect', () => socket.write(PROTOCOL_HEADER));
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('drain', () => {
      this.#drained.open();
      this.#drained = new Gate();
    });
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy(new Error('the broker closed the connection')));
    await opened;
    // 0 is no limit.
    if (this.frameMax === 0) this.frameMax = MAX_FRAME_BYTES;
    if (this.frameMax < LEAST_FRAME_BYTES) throw new Error('the broker negotiates tiny frames');
    this.#writer = new MessageWriter(this.frameMax);
    this.#watch(socket);
    return this;
  }

  /** Opens when nothing waits to be sent any more. */
  get drained(): Gate {
    return this.#drained;
  }

  /** Bytes that wait in this process to be sent. */
  get unsentBytes(): number {
    return this.#socket?.writableLength ?? 0;
  }

  /**
   * Sends a mandatory message.
   * @throws Error for properties that cannot be sent; nothing was sent then.
   */
  publish(channel: number, envelope: Envelope, body: Uint8Array): void {
    const head = this.#writer.writeHead(channel, envelope, body.length);
    const socket = this.#socket;
    if (socket === null) return;
    socket.cork();
    this.#write(head);
    for (const part of this.#writer.writeBody(channel, body)) this.#write(part);
    socket.uncork();
  }

  /** The length of the body of a delivery that was skipped; `null` if it was not. */
  takeSkipped(deliveryTag: number): number | null {
    const length = this.#skippedLengths.get(deliveryTag) ?? null;
    this.#skippedLengths.delete(deliveryTag);
    return length;
  }

  /** Closes in order where the broker still reads. */
  async shutDown(): Promise<void> {
    if (!this.closed) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
      });
      await Promise.race([this.close().catch(() => {}), late]);
      clearTimeout(timer);
    }
    this.destroy(new Error('closed'));
  }

  /** Ends the connection at once; what was not sent is dropped. */
  destroy(error: Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.closed = true;
    clearInterval(this.#heartbeats);
    this.#socket?.destroy();
    const pending = this.connectPromise;
    delete this.connectPromise;
    pending?.[1](error);
    for (const channel of this.channels) channel?.setClosed(error);
    this.#drained.open();
    this.#reject(error);
  }

  /** For the library; never rejects. */
  override async send(bytes: Uint8Array): Promise<void> {
    this.#write(bytes);
  }

  /** For the library: the broker has closed the connection, or confirmed its close. */
  protected override closeSocket(): void {
    this.#socket?.end();
    // The error of the broker is known to the channels and to connect() by now.
    setImmediate(() => this.destroy(new Error('the broker closed the connection')));
  }

  #write(bytes: Uint8Array): void {
    this.#sentAt = performance.now();
    this.#socket?.write(bytes);
  }

  #read(chunk: Buffer): void {
    this.#receivedAt = performance.now();
    if (this.#hasEnded) return;
    try {
      this.#frames.read(chunk);
    } catch {
      // The error of the library may contain bytes of the broker.
      this.destroy(new Error('the broker violates AMQP 0-9-1'));
    }
  }

  #receive(frame: Buffer): void {
    const channel = frame.readUInt16BE(1);
    const skipped = this.#skipped.get(channel) ?? 0;
    if (frame[0] === FRAME.body && skipped > 0) {
      this.#skip(channel, skipped - (frame.length - 8));
      return;
    }
    if (frame[0] === FRAME.method && this.#receiveMethod(frame, channel)) return;
    this.parseFrames(toView(frame[0] === FRAME.header ? this.#limit(frame, channel) : frame));
  }

  /** @returns whether the method needs nothing else */
  #receiveMethod(frame: Buffer, channel: number): boolean {
    const method = frame.readUInt32BE(7);
    if (method === METHOD.ack || method === METHOD.nack) {
      const tag = Number(frame.readBigUInt64BE(11));
      const isMultiple = (frame.readUInt8(19) & 1) === 1;
      const isAccepted = method === METHOD.ack;
      this.#events.confirmed({ channel, tag, upTo: isMultiple, isAccepted });
      return true;
    }
    if (method === METHOD.return) this.#deliveryTag = 0;
    // The tag of the consumer comes first.
    if (method === METHOD.deliver) {
      this.#deliveryTag = Number(frame.readBigUInt64BE(12 + frame.readUInt8(11)));
    }
    return false;
  }

  /** The header of a message, which announces no body if that is skipped. */
  #limit(frame: Buffer, channel: number): Buffer {
    const length = Number(frame.readBigUInt64BE(11));
    if (length === 0 || this.#events.wantsBody(length)) return frame;
    // Nothing else could come through the channel for a long time.
    if (length > LARGEST_MESSAGE_BYTES) throw new Error('the broker announced an endless message');
    this.#skip(channel, length);
    if (this.#deliveryTag !== 0) this.#skippedLengths.set(this.#deliveryTag, length);
    // Each is taken as soon as its message is whole, unless that is for no consumer.
    if (this.#skippedLengths.size > MAX_SKIPPED) throw new Error('deliveries for no consumer');
    const header = Buffer.from(frame);
    header.fill(0, 11, 19);
    return header;
  }

  #skip(channel: number, bytes: number): void {
    if (bytes < 0) throw new Error('the broker sent more than it announced');
    if (bytes === 0) this.#skipped.delete(channel);
    else this.#skipped.set(channel, bytes);
  }

  /** The broker may have switched heartbeats off. */
  #watch(socket: Socket): void {
    if (this.heartbeat === 0) {
      socket.setKeepAlive(true, HEARTBEAT_S * 1_000);
      return;
    }
    const intervalMs = this.heartbeat * 1_000;
    const isLost = () => performance.now() - this.#receivedAt >= LOST_HEARTBEATS * intervalMs;
    this.#heartbeats = setInterval(() => {
      if (performance.now() - this.#sentAt >= intervalMs / SENT_HEARTBEATS) this.#write(HEARTBEAT);
      if (!isLost()) return;
      // The event loop may have been busy: what has arrived meanwhile is read first.
      setImmediate(() => {
        if (isLost()) this.destroy(new Error('no heartbeat of the broker'));
      });
    }, CHECK_INTERVAL_MS);
  }
}
