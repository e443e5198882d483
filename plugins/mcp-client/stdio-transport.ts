import { StringDecoder } from 'node:string_decoder';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { type Log, ProviderFailure } from '../../core/contract/index.js';
import type { Child } from '../process/child.js';
import { LineLog } from '../shared/line-log.js';
import {
  ENVELOPE_BYTES,
  type Exchange,
  exchanges,
  isNeeded,
  type Message,
  OWN_RESPONSE_BYTES,
  parseMessage,
  readMember,
  writeMessage,
} from './exchange.js';

/** Lines that are no messages, until the handshake has ended. */
const MAX_STRAY_LINES = 1_000;
/** What a process may leave unread. */
const MAX_UNREAD_BYTES = 16 * 1_048_576;
/** Bytes of messages that belong to no call. */
const BURST_BYTES = 4 * 1_048_576;
const BYTES_PER_SECOND = 65_536;

/** The lines between the host and a process; transports of several attempts share it. */
export class StdioPipe {
  readonly #child: Child;
  readonly #decoder = new StringDecoder('utf8');
  readonly #strays: LineLog;
  readonly #exchanges = new Map<unknown, Exchange>();
  readonly #startedAt = performance.now();
  #pieces: string[] = [];
  #length = 0;
  /** That of the call that may get most. */
  #maxLineBytes = OWN_RESPONSE_BYTES;
  #strayLines = 0;
  #otherBytes = 0;
  /** Whether a session uses the process. */
  isReady = false;
  onMessage: (message: Message) => void = () => {};
  onClose: () => void = () => {};

  constructor(child: Child, log: Log) {
    this.#child = child;
    this.#strays = new LineLog(log.warn, { pid: child.pid, stream: 'stdout' });
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stdout?.on('error', () => {});
    void child.exited.then(() => {
      this.#strays.end();
      this.onClose();
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** @throws ProviderFailure when the process does not read. */
  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child;
    const call = exchanges.getStore();
    const id = readMember(message, 'id');
    const isRequest = readMember(message, 'method') !== undefined && id !== undefined;
    if (stdin === null || !stdin.writable || stdin.writableLength > MAX_UNREAD_BYTES) {
      const failure = new ProviderFailure('unavailable', 'the process does not read its input', {
        phase: 'connecting',
      });
      if (isRequest) call?.fail(failure);
      throw failure;
    }
    if (isRequest && call !== undefined && call.options.isHandshake !== true) {
      call.begin(id);
      call.isSent = true;
      this.#exchanges.set(id, call);
      const { maxResponseBytes } = call.options;
      this.#maxLineBytes = Math.max(this.#maxLineBytes, maxResponseBytes + ENVELOPE_BYTES);
      call.signal.addEventListener('abort', () => this.#exchanges.delete(id), { once: true });
    }
    stdin.write(`${writeMessage(message, call)}\n`);
  }

  #read(chunk: Buffer): void {
    const lines = this.#decoder.write(chunk).split('\n');
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      this.#pieces.push(line);
      this.#readLine(this.#pieces.join('').replace(/\r$/, ''));
      this.#pieces = [];
      this.#length = 0;
    }
    this.#pieces.push(rest);
    this.#length += rest.length;
    if (this.#length <= this.#maxLineBytes) return;
    void this.#child.end(`printed a line of more than ${this.#maxLineBytes} bytes`);
  }

  #readLine(line: string): void {
    const message = parseMessage(line);
    if (message === null) {
      this.#skip(line);
      return;
    }
    const isResponse = message.method === undefined;
    const id = isResponse
      ? message.id
      : message.method === 'notifications/progress'
        ? readMember(message.params, 'progressToken')
        : undefined;
    const exchange = this.#exchanges.get(id);
    if (exchange !== undefined) {
      if (isResponse) this.#exchanges.delete(id);
      if (exchange.accept(message, line)) this.onMessage(message);
      return;
    }
    if (isResponse && this.isReady) return;
    if (!isResponse) this.#countOther(line.length);
    // Requests of the server, and the handshake.
    if (isResponse || message.id !== undefined || isNeeded(message)) this.onMessage(message);
  }

  /** A line that is not a message, such as a print for people. */
  #skip(line: string): void {
    if (line.trim() === '') return;
    this.#strays.push(Buffer.from(`${line}\n`));
    this.#countOther(line.length);
    this.#strayLines += 1;
    if (this.isReady || this.#strayLines < MAX_STRAY_LINES) return;
    void this.#child.end(`printed ${MAX_STRAY_LINES} lines that are not messages`);
  }

  #countOther(length: number): void {
    this.#otherBytes += length;
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    if (this.#otherBytes <= BURST_BYTES + seconds * BYTES_PER_SECOND) return;
    void this.#child.end('floods the host with messages');
  }
}

/**
 * The transport of one attempt of a handshake, and of the session that follows. The client library recognizes
 * a process by the members `pid` and `stderr`.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  readonly stderr = null;
  readonly #pipe: StdioPipe;

  constructor(pipe: StdioPipe) {
    this.#pipe = pipe;
  }

  get pid(): number | undefined {
    return this.#pipe.pid;
  }

  async start(): Promise<void> {
    this.#pipe.onMessage = (message) => this.onmessage?.(message as JSONRPCMessage);
    this.#pipe.onClose = () => this.onclose?.();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#pipe.send(message);
  }

  /** Detaches it: the process ends with its session. */
  async close(): Promise<void> {
    this.#pipe.onMessage = () => {};
    this.#pipe.onClose = () => {};
    this.onclose?.();
  }
}
