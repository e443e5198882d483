import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { ProviderFailure } from '../../core/contract/index.js';
import type { RunningCommand } from '../shared/transport.js';
import {
  ENVELOPE_BYTES,
  type Exchange,
  exchanges,
  isNeeded,
  MessageBudget,
  OWN_RESPONSE_BYTES,
  parseMessages,
  type Received,
  readMember,
  writeMessage,
} from './exchange.js';

/** Lines that are no messages, until the handshake has ended. */
const MAX_STRAY_LINES = 1_000;
/** What a process may leave unread. */
const MAX_UNREAD_BYTES = 16 * 1_048_576;
/** Bytes of messages that belong to no call. */
const BURST_BYTES = 4 * 1_048_576;
/** The time between the end of a pipe and the exit of a process, which ends its pipes. */
const EXIT_MS = 1_000;

/** The lines between the host and a process; transports of several attempts share it. */
export class StdioPipe {
  readonly #child: RunningCommand;
  /** Removes a byte-order mark at the start. */
  readonly #decoder = new TextDecoder();
  /** By their ids, which some servers turn into texts. */
  readonly #exchanges = new Map<string, Exchange>();
  readonly #budget = new MessageBudget(BURST_BYTES);
  #pieces: string[] = [];
  #length = 0;
  /** That of the call that may get most. */
  #maxLineBytes = OWN_RESPONSE_BYTES;
  #strayLines = 0;
  #isBroken = false;
  /** Whether a session uses the process. */
  isReady = false;
  onMessage: (message: object) => void = () => {};
  onClose: () => void = () => {};

  constructor(child: RunningCommand) {
    this.#child = child;
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stdout?.on('error', () => {});
    for (const pipe of [child.stdin, child.stdout]) pipe?.on('close', () => this.#endMute());
    void child.exited.then(() => this.onClose());
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
      const key = String(id);
      this.#exchanges.set(key, call);
      const { maxResponseBytes } = call.options;
      this.#maxLineBytes = Math.max(this.#maxLineBytes, maxResponseBytes + ENVELOPE_BYTES);
      call.signal.addEventListener('abort', () => this.#exchanges.delete(key), { once: true });
    }
    const line = writeMessage(message, call);
    if (/[\r\n]/.test(line)) throw new Error('a message over stdio must be one line');
    stdin.write(`${line}\n`);
  }

  #read(chunk: Buffer): void {
    if (this.#isBroken) return;
    const lines = this.#decoder.decode(chunk, { stream: true }).split('\n');
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      this.#pieces.push(line);
      const whole = this.#pieces.join('').replace(/\r$/, '');
      this.#pieces = [];
      this.#length = 0;
      this.#readLine(whole);
      if (this.#isBroken) return;
    }
    this.#pieces.push(rest);
    this.#length += rest.length;
    if (this.#length <= this.#maxLineBytes) return;
    this.#break(`printed a line of more than ${this.#maxLineBytes} bytes`);
  }

  /** Ends the process; what it still prints is not read. */
  #break(reason: string): void {
    this.#isBroken = true;
    this.#pieces = [];
    this.#child.stdout?.destroy();
    void this.#child.end(reason);
  }

  /** Ends a process that still runs without a pipe: it could not answer any more. */
  #endMute(): void {
    const end = () => void this.#child.end('closed its stdin or stdout');
    const timer = setTimeout(end, EXIT_MS);
    void this.#child.exited.then(() => clearTimeout(timer));
  }

  #readLine(line: string): void {
    const messages = parseMessages(line);
    if (messages.length === 0) this.#skip(line);
    for (const message of messages) this.#receive(message);
  }

  #receive(received: Received): void {
    const accepted = this.#accept(received);
    if (accepted === null) return;
    try {
      this.onMessage(accepted);
    } catch {
      // The library rejects a message that it cannot read.
    }
  }

  #accept(received: Received): object | null {
    const { message, text } = received;
    const isResponse = message.method === undefined;
    const isProgress = message.method === 'notifications/progress';
    const token = isProgress ? readMember(message.params, 'progressToken') : undefined;
    const key = String(isResponse ? message.id : token);
    const exchange = this.#exchanges.get(key);
    if (exchange !== undefined) {
      if (isResponse) this.#exchanges.delete(key);
      exchange.count(text.length, 1);
      return exchange.accept(received);
    }
    if (isResponse && this.isReady) {
      // A late response to a call that has ended.
      this.#countOther(text.length);
      return null;
    }
    if (!isResponse) this.#countOther(text.length);
    // Requests of the server, and the handshake.
    return isResponse || message.id !== undefined || isNeeded(message) ? message : null;
  }

  /** A line that is not a message, such as a print for people. */
  #skip(line: string): void {
    if (line.trim() === '') return;
    this.#child.logStdout(Buffer.from(`${line}\n`));
    this.#countOther(line.length);
    this.#strayLines += 1;
    if (this.isReady || this.#strayLines < MAX_STRAY_LINES) return;
    this.#break(`printed ${MAX_STRAY_LINES} lines that are not messages`);
  }

  #countOther(length: number): void {
    if (!this.#budget.admits(length, 1)) this.#break('floods the host with messages');
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
