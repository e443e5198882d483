import { isUtf8 } from 'node:buffer';
import {
  type EventForm as FormName,
  isProviderFailure,
  ProviderFailure,
} from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import {
  EventScanner,
  hasReservedName,
  RESERVED_PREFIX,
  stripByteOrderMark,
} from '../../lib/event-scanner.js';
import { findInvalidJson } from '../../lib/json/json-check.js';
import { sliceMembers } from '../../lib/json/json-structure.js';
import type { HostEndReason } from '../../provider/open-streams.js';
import type { ResponseStream } from '../../provider/response-stream.js';
import type { ReplyStream } from '../reply.js';

/** The end of a stream of events. */
type StreamEnd = HostEndReason | 'complete' | 'problem' | 'client';

/** The host's own events in one form of stream. */
interface EventForm {
  readonly unitEnd: 'blank-line' | 'line';
  /** @param data JSON */
  write(name: string, data: string): Buffer;
  readonly heartbeat: Buffer;
  /** Completes an unfinished event of the provider. */
  readonly end: Buffer;
  /** The reason why an event of the provider is not forwarded; `null` if it is. */
  findProblem(unit: Buffer): string | null;
}

const FORMS: Readonly<Record<FormName, EventForm>> = {
  sse: {
    unitEnd: 'blank-line',
    write: (name, data) => Buffer.from(`event: ${name}\ndata: ${data}\n\n`),
    heartbeat: Buffer.from(':\n\n'),
    end: Buffer.from('\n\n'),
    findProblem: (event) => {
      if (!isUtf8(event)) return 'has an event that is not UTF-8';
      return hasReservedName(event) ? 'has an event whose name begins with modgate.' : null;
    },
  },
  ndjson: {
    unitEnd: 'line',
    write: (name, data) => Buffer.from(`{"${name}":${data}}\n`),
    heartbeat: Buffer.from('\n'),
    end: Buffer.from('\n'),
    findProblem: (line) => {
      if (isBlank(line)) return null;
      const invalid = findInvalidJson([line], line.length);
      if (invalid !== null) return `has a line that is ${invalid.reason}`;
      return hasOwnMember(line) ? 'has a line with a member that begins with modgate.' : null;
    },
  },
};

const OPEN_BRACE = 0x7b;

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a);
}

/** @param line JSON */
function hasOwnMember(line: Buffer): boolean {
  const isCandidate = line.includes(RESERVED_PREFIX) || line.includes('\\u');
  const start = line.findIndex((byte) => byte > 0x20);
  if (!isCandidate || line[start] !== OPEN_BRACE) return false;
  return [...sliceMembers(line).keys()].some((name) => name.startsWith(RESERVED_PREFIX));
}

interface EventStreamOptions {
  /** The stream of the provider; `null` for a response without a body. */
  readonly source: ResponseStream | null;
  /** The parts that have already arrived. */
  readonly pieces: readonly Uint8Array[];
  readonly form: FormName;
  /** The first event of the host, as JSON; `null` in raw mode, in which the host adds nothing. */
  readonly opening: string | null;
  readonly limits: Descriptor['limits']['stream'];
  /** Converts a failure to the error of `read`. */
  readonly toError: (failure: ProviderFailure) => Error;
  /** Called once, when the end is decided. */
  readonly onEnd: (end: StreamEnd) => void;
  /** Called once the last event was passed on, or cannot be. */
  readonly onSettled: () => void;
}

/** The default maximum of an event. Bytes. */
const DEFAULT_EVENT_BYTES = 262_144;
/** The timeout for the last event, which a client that does not read never receives. */
const LAST_EVENT_MS = 1000;

/**
 * A stream of events for a client: complete events of the provider unchanged, and those of the host
 * between them. In raw mode it has only the bytes of the provider, as they arrive.
 */
export class EventStream implements ReplyStream {
  readonly isEvents = true;
  readonly isHeadFirst = true;
  bytes = 0;
  readonly #options: EventStreamOptions;
  readonly #form: EventForm;
  readonly #scanner: EventScanner;
  readonly #ready: Buffer[] = [];
  readonly #listeners: ((failure: Error | null) => void)[] = [];
  readonly #heartbeat: NodeJS.Timeout | null;
  readonly #longest: NodeJS.Timeout;
  #lastEvent: NodeJS.Timeout | null = null;
  #isReading = false;
  #isStart = true;
  #end: StreamEnd | null = null;
  #failure: Error | null = null;
  #wake: (() => void) | null = null;

  constructor(options: EventStreamOptions) {
    const { source, pieces, form, opening, limits } = options;
    this.#options = options;
    this.#form = FORMS[form];
    this.#scanner = new EventScanner(this.#form.unitEnd, this.#maxBytes);
    if (opening !== null) this.#ready.push(this.#form.write('modgate.open', opening));
    this.#heartbeat =
      opening === null ? null : setInterval(() => this.#beat(), limits.heartbeat_ms);
    this.#longest = setTimeout(() => this.end('max_ms'), limits.max_ms);
    // While the client reads nothing, only this event shows that the provider or the client has
    // disconnected.
    source?.onEnd((failure) => {
      if (failure !== null && this.#end === null) this.#fail(failure);
    });
    if (pieces.length > 0) this.#receive(Buffer.concat(pieces));
  }

  /** The bytes of an incomplete event. */
  get heldBytes(): number {
    return this.#scanner.heldBytes;
  }

  /** Whether the connection must be closed, because the host adds no event that ends the stream. */
  get isCut(): boolean {
    return this.#isRaw && this.#end !== null && this.#end !== 'complete';
  }

  get #maxBytes(): number {
    return this.#options.limits.event_bytes ?? DEFAULT_EVENT_BYTES;
  }

  get #isRaw(): boolean {
    return this.#options.opening === null;
  }

  /** Ends the stream for the host. */
  end(reason: HostEndReason): void {
    if (this.#end !== null) return;
    this.#finish(reason);
    this.#options.source?.close();
  }

  onEnd(listener: (failure: Error | null) => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    this.#settle();
    if (this.#end !== null) return;
    this.#stop('client');
    this.#options.source?.close();
  }

  async read(): Promise<Uint8Array | null> {
    while (true) {
      const part = this.#ready.shift();
      if (part !== undefined) {
        this.bytes += part.length;
        return part;
      }
      if (this.#end !== null) {
        this.#settle();
        if (this.#failure !== null) throw this.#failure;
        return null;
      }
      if (!this.#isReading) void this.#readSource();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Returns the last event, a Problem as JSON; `null` if the connection is closed instead. */
  writeProblem(problem: readonly Uint8Array[]): Buffer | null {
    if (this.#isRaw) return null;
    return this.#form.write('modgate.problem', Buffer.concat(problem).toString());
  }

  async #readSource(): Promise<void> {
    this.#isReading = true;
    try {
      const part = (await this.#options.source?.read()) ?? null;
      if (this.#end !== null) return;
      if (part === null) this.#complete();
      else this.#receive(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isReading = false;
      this.#notify();
    }
  }

  #receive(part: Buffer): void {
    this.#heartbeat?.refresh();
    if (this.#isRaw) {
      this.#scanner.measure(part);
      if (!this.#scanner.isTooLong) this.#ready.push(part);
    } else {
      // Only the start of the stream may have a byte-order mark; the host's event precedes it.
      this.#pass(this.#scanner.push(this.#isStart ? stripByteOrderMark(part) : part));
      this.#isStart = false;
    }
    if (this.#scanner.isTooLong) {
      this.#reject(`has an event of more than ${this.#maxBytes} bytes`);
    }
  }

  /** Forwards the events before an invalid one. */
  #pass(units: readonly Buffer[]): void {
    const invalidIndex = units.findIndex((unit) => this.#form.findProblem(unit) !== null);
    const validUnits = invalidIndex === -1 ? units : units.slice(0, invalidIndex);
    if (validUnits.length > 0)
      this.#ready.push(
        validUnits.length === 1 ? (validUnits[0] as Buffer) : Buffer.concat(validUnits),
      );
    const [unit] = invalidIndex === -1 ? [] : units.slice(invalidIndex);
    if (unit !== undefined) this.#reject(this.#form.findProblem(unit) ?? '');
  }

  /** Forwards a properly ended stream completely, even without the end of its last event. */
  #complete(): void {
    if (this.#isRaw) {
      this.#finish('complete');
      return;
    }
    const rest = this.#scanner.rest();
    if (rest.length > 0) {
      this.#pass([rest]);
      if (this.#end === null) this.#ready.push(this.#form.end);
    }
    this.#finish('complete');
  }

  #finish(end: HostEndReason | 'complete'): void {
    if (this.#end !== null) return;
    if (!this.#isRaw) {
      const reason = JSON.stringify({ reason: end });
      this.#ready.push(this.#form.write('modgate.end', reason));
    }
    this.#stop(end);
    this.#expectReader();
  }

  /** Ends the stream; later bytes are not read. */
  #reject(problem: string): void {
    const message = `the stream of the provider ${problem}`;
    this.#fail(
      new ProviderFailure('protocol', message, { status: 200, phase: 'answered', detail: problem }),
    );
    this.#options.source?.close();
  }

  #fail(error: unknown): void {
    if (this.#end !== null) return;
    const isClient = isProviderFailure(error) && error.failure === 'cancelled';
    this.#failure = isProviderFailure(error) ? this.#options.toError(error) : (error as Error);
    this.#stop(isClient ? 'client' : 'problem');
    if (isClient) this.#cut();
    else this.#expectReader();
  }

  #stop(end: StreamEnd): void {
    this.#end = end;
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    clearTimeout(this.#longest);
    this.#options.onEnd(end);
    this.#notify();
  }

  /** Waits for the client to read the last event. */
  #expectReader(): void {
    this.#lastEvent = setTimeout(() => this.#cut(), LAST_EVENT_MS);
  }

  #settle(): void {
    if (this.#lastEvent !== null) clearTimeout(this.#lastEvent);
    this.#listeners.length = 0;
    this.#options.onSettled();
  }

  #cut(): void {
    const failure = this.#failure ?? new Error('the client does not read');
    for (const listener of this.#listeners.splice(0)) listener(failure);
    this.#settle();
  }

  #beat(): void {
    // A client that does not read would receive all of them at once.
    if (this.#wake === null || this.#ready.length > 0) return;
    this.#ready.push(this.#form.heartbeat);
    this.#notify();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
