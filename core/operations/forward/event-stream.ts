import { BodyPieces } from '../../contract/body-pieces.js';
import {
  type BodySink,
  type EventForm as FormName,
  isProviderFailure,
  ProviderFailure,
} from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { MarkFilter } from '../../lib/byte-order-mark.js';
import { EventScanner } from '../../lib/event-scanner.js';
import { UnitPace } from '../../lib/unit-pace.js';
import type { HostEndReason } from '../../provider/open-streams.js';
import { type RejectedCall, withStatus } from '../../provider/rejected-call.js';
import type { ResponseStream } from '../../provider/response-stream.js';
import type { ReplyStream } from '../reply.js';
import { checkEvents, EVENT_FORMS, type EventForm } from './event-forms.js';

type StreamEnd = HostEndReason | 'complete' | 'problem' | 'client';

interface EventStreamOptions {
  /** The stream of the provider; `null` for a response without a body. */
  readonly source: ResponseStream | null;
  /** The parts that have already arrived. */
  readonly pieces: readonly Uint8Array[];
  /** Whether the end of the stream shows that its last event is complete. */
  readonly isDelimited: boolean;
  readonly form: FormName;
  /** The first event of the host, as JSON; `null` in raw mode, in which the host adds nothing. */
  readonly opening: string | null;
  readonly limits: Descriptor['limits']['stream'];
  /** Converts a failure to the error that the sink gets. */
  readonly toError: (failure: ProviderFailure) => Error;
  /** Called once, when the end is decided. */
  readonly onEnd: (end: StreamEnd) => void;
  /** Called once the last event was passed on, or cannot be. */
  readonly onSettled: () => void;
}

/** The default maximum of an event. Bytes. */
const DEFAULT_EVENT_BYTES = 262_144;
/** Shorter parts are not reused: most streams have no other ones, and are idle. Bytes. */
const MIN_REUSED_BYTES = 16_384;
/** The timeout for the last event, which a client that does not read never receives. */
const LAST_EVENT_MS = 1000;
const NO_BYTES = Buffer.alloc(0);

/**
 * A stream of events for a client: complete events of the provider unchanged, and those of the host
 * between them. In raw mode it has only the bytes of the provider, as they arrive if their end is
 * known.
 */
export class EventStream implements ReplyStream {
  readonly isEvents = true;
  readonly isHeadFirst = true;
  bytes = 0;
  onHold: (() => void) | null = null;
  readonly #options: Omit<EventStreamOptions, 'pieces' | 'opening'>;
  readonly #isRaw: boolean;
  readonly #form: EventForm;
  readonly #scanner: EventScanner;
  readonly #pace: UnitPace;
  /** The part that is being read; `null` for one that is not reused. */
  #part: Uint8Array | null = null;
  /** Its bytes that are not read yet, because others had their turn. */
  #unread: Buffer | null;
  /** The last bytes that it passed on without a copy. */
  #lastOfPart: Buffer | null = null;
  /** Parts that are read, by the last bytes that they passed on: then they can be reused. */
  #lent: WeakMap<Uint8Array, Uint8Array> | null = null;
  /** The start of an incomplete event. */
  #held = new BodyPieces();
  /** What the sink did not want yet. */
  readonly #ready: Buffer[] = [];
  #sink: BodySink | null = null;
  /** Whether the sink wants more. */
  #isTaken = false;
  readonly #heartbeat: NodeJS.Timeout | null;
  readonly #longest: NodeJS.Timeout;
  #lastEvent: NodeJS.Timeout | null = null;
  /** Whether the host reads nothing, because others have their turn. */
  #isPausing = false;
  /** Whether the source has ended, behind the bytes that are not read yet. */
  #isSourceOver = false;
  /** Drops a byte-order mark at the start, because the host's event precedes it. */
  readonly #mark = new MarkFilter();
  #end: StreamEnd | null = null;
  #failure: Error | null = null;
  #isSettled = false;
  /** Whether the sink knows the end. */
  #isTold = false;

  constructor({ pieces, opening, ...options }: EventStreamOptions) {
    const { form, limits } = options;
    this.#options = options;
    this.#isRaw = opening === null;
    this.#form = EVENT_FORMS[form];
    this.#scanner = new EventScanner(this.#form.unitEnd, this.#maxBytes);
    this.#pace = new UnitPace(limits.units_s);
    this.#unread = pieces.length > 0 ? Buffer.concat(pieces) : null;
    if (opening !== null) this.#ready.push(this.#form.write('modgate.open', opening));
    this.#heartbeat =
      opening === null ? null : setInterval(() => this.#beat(), limits.heartbeat_ms);
    this.#longest = setTimeout(() => this.end('max_ms'), limits.max_ms);
  }

  /** The bytes of an incomplete event, and those that are not read. */
  get heldBytes(): number {
    return this.#held.length + (this.#unread?.length ?? 0);
  }

  /** Whether the connection must be closed, because the host adds no event that ends the stream. */
  get isCut(): boolean {
    return this.#isRaw && this.#end !== null && this.#end !== 'complete';
  }

  get #maxBytes(): number {
    return this.#options.limits.event_bytes ?? DEFAULT_EVENT_BYTES;
  }

  /** Ends the stream for the host. */
  end(reason: HostEndReason): void {
    if (this.#end !== null) return;
    this.#finish(reason);
    this.#options.source?.close();
  }

  pipe(sink: BodySink): void {
    this.#sink = sink;
    this.#isTaken = true;
    this.#flush();
    const { source } = this.#options;
    if (this.#end !== null) return;
    if (source === null) this.#endSource();
    else {
      source.pipe({
        write: (part) => this.#begin(part),
        end: () => this.#endSource(),
        fail: (error) => this.#failSource(error),
      });
    }
  }

  resume(): void {
    this.#isTaken = true;
    this.#flush();
    this.#continue();
  }

  reuse(bytes: Uint8Array): void {
    const part = this.#lent?.get(bytes);
    if (part !== undefined) this.#options.source?.reuse(part);
  }

  close(): void {
    this.#settle();
    if (this.#end === null) {
      this.#stop('client');
      this.#options.source?.close();
    }
    this.#tellSink();
  }

  /** The client, which reads too slowly, does not receive the problem. */
  reject(rejection: RejectedCall): void {
    this.#ready.length = 0;
    this.#failure = this.#options.toError(withStatus(rejection, 200));
    if (this.#end === null) this.#stop('problem');
    this.#options.source?.close();
    this.#cut();
  }

  /** Returns the last event, a Problem as JSON; `null` if the connection is closed instead. */
  writeProblem(problem: readonly Uint8Array[]): Buffer | null {
    if (this.#isRaw) return null;
    return this.#form.write('modgate.problem', Buffer.concat(problem).toString());
  }

  #begin(part: Uint8Array): boolean {
    this.#part = part.length < MIN_REUSED_BYTES ? null : part;
    return this.#read(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
  }

  /** Reads bytes, as far as it is the turn of this stream. @returns whether the next part may follow */
  #read(part: Buffer): boolean {
    if (this.#end !== null) return false;
    const startedAt = performance.now();
    const units = this.#receive(part);
    const pauseMs = this.#pace.pass(units, startedAt);
    this.#flush();
    if (pauseMs !== null && this.#end === null) {
      this.#isPausing = true;
      this.#pace.wait(pauseMs, () => {
        this.#isPausing = false;
        this.#continue();
      });
    }
    return this.#isReady && (this.#unread === null || this.#read(this.#unread));
  }

  /** Whether the next part may be read. */
  get #isReady(): boolean {
    return this.#isTaken && !this.#isPausing && this.#end === null;
  }

  /** Reads what is left of the last part, and then the source. */
  #continue(): void {
    if (!this.#isReady) return;
    if (this.#unread !== null && !this.#read(this.#unread)) return;
    if (this.#isSourceOver) this.#complete();
    else this.#options.source?.resume();
  }

  #endSource(): void {
    this.#isSourceOver = true;
    this.#continue();
  }

  /** While the client reads nothing, only this shows that the provider or the client has gone. */
  #failSource(error: unknown): void {
    while (this.#unread !== null && this.#end === null) this.#receive(this.#unread);
    this.#fail(error);
  }

  /** Forwards the events that may be read now; the rest stays unread. @returns their number */
  #receive(part: Buffer): number {
    this.#heartbeat?.refresh();
    const bytes = this.#isRaw ? part : this.#mark.pass(part);
    // The one whose start is held goes alone, so that the others need no copy.
    const maxUnits = this.#held.length > 0 ? 1 : this.#pace.turnUnits;
    const { units, end, next } = this.#scanner.scan(bytes, maxUnits);
    const { isTooLong } = this.#scanner;
    this.#unread = isTooLong || next === bytes.length ? null : bytes.subarray(next);
    const passed = this.#isRaw && this.#options.isDelimited && !isTooLong ? next : end;
    if (passed > 0) this.#pass(bytes.subarray(0, passed));
    if (isTooLong) this.#reject(`has an event of more than ${this.#maxBytes} bytes`);
    // Copied, so that a few bytes do not keep the whole part in memory.
    else if (passed < next) this.#held.add(Buffer.from(bytes.subarray(passed, next)));
    if (this.#held.length > 0) this.onHold?.();
    if (this.#unread === null) this.#lend();
    return units;
  }

  /** Lets the part that was read be reused once what it passed on was sent. */
  #lend(): void {
    const part = this.#part;
    const last = this.#lastOfPart;
    this.#part = null;
    this.#lastOfPart = null;
    if (part === null) return;
    if (last === null) {
      this.#options.source?.reuse(part);
      return;
    }
    this.#lent ??= new WeakMap();
    this.#lent.set(last, part);
  }

  /** Forwards complete events, up to one that is invalid in envelope mode. */
  #pass(events: Buffer): void {
    const complete = this.#takeHeld(events);
    if (complete === events) this.#lastOfPart = events;
    if (this.#isRaw) {
      this.#ready.push(complete);
      return;
    }
    const { valid, problem } = checkEvents(this.#form, complete);
    if (valid.length > 0) this.#ready.push(valid);
    if (problem !== null) this.#reject(problem);
  }

  /** Returns the events together with the start of the first one. */
  #takeHeld(events: Buffer): Buffer {
    if (this.#held.length === 0) return events;
    this.#held.add(events);
    const joined = this.#held.join();
    this.#held = new BodyPieces();
    return joined;
  }

  /** Forwards a properly ended stream with its last event, if that is complete without its end. */
  #complete(): void {
    if (!this.#isRaw) this.#held.add(this.#mark.rest);
    if (this.#held.length > 0) this.#passLast();
    this.#finish('complete');
  }

  #passLast(): void {
    const { isDelimited } = this.#options;
    if (!isDelimited && !this.#form.showsEnd(this.#held.join())) return;
    this.#pass(this.#isRaw ? NO_BYTES : this.#form.end);
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
    this.#unread = null;
    this.#pace.end();
    this.#options.onEnd(end);
  }

  /** Waits for the client to read the last event. */
  #expectReader(): void {
    this.#lastEvent = setTimeout(() => this.#cut(), LAST_EVENT_MS);
    this.#flush();
  }

  #settle(): void {
    if (this.#lastEvent !== null) clearTimeout(this.#lastEvent);
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#options.onSettled();
  }

  #cut(): void {
    this.#settle();
    this.#failure ??= new Error('the client does not read');
    this.#tellSink();
  }

  #tellSink(): void {
    if (this.#sink === null || this.#isTold) return;
    this.#isTold = true;
    if (this.#failure === null) this.#sink.end();
    else this.#sink.fail(this.#failure);
  }

  #beat(): void {
    // A client that does not read would receive all of them at once.
    if (!this.#isTaken) return;
    this.#ready.push(this.#form.heartbeat);
    this.#flush();
  }

  /** Passes on what is ready, and the end behind it. */
  #flush(): void {
    const sink = this.#sink;
    while (sink !== null && this.#isTaken && !this.#isSettled) {
      const part = this.#ready.shift();
      if (part === undefined) {
        if (this.#end === null) return;
        this.#settle();
        break;
      }
      this.bytes += part.length;
      this.#isTaken = sink.write(part);
    }
    if (this.#isSettled) this.#tellSink();
  }
}
