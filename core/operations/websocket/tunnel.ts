import type { Duplex } from 'node:stream';
import { destroyLater } from '../../lib/linger.js';
import { UnitPace } from '../../lib/unit-pace.js';
import { CLOSE_ANSWER_MS, createCloseFrame } from '../../lib/websocket/close-frame.js';
import {
  CLOSE_CODES,
  FrameScanner,
  type FrameSender,
  type ReservedBits,
} from '../../lib/websocket/frame-scanner.js';
import type { HeldMemory } from '../../provider/held-memory.js';
import { UnreadBytes } from '../../provider/unread-bytes.js';
import { StallTimer } from './stall-timer.js';

type ClosedBy = 'caller' | 'provider' | 'host';

export interface TunnelEnd {
  readonly closedBy: ClosedBy;
  readonly code: number;
  /** Whether the provider broke it off: without a close frame, or with an invalid frame. */
  readonly isBroken: boolean;
  /** The bytes and frames of the caller that were forwarded. */
  readonly received: TunnelCounts;
  /** The bytes and frames of the provider that were forwarded. */
  readonly sent: TunnelCounts;
}

interface TunnelCounts {
  readonly bytes: number;
  readonly frames: number;
}

interface TunnelOptions {
  readonly caller: Duplex;
  readonly provider: Duplex;
  /** Bytes. */
  readonly maxFrameBytes: number;
  readonly reservedBits: ReservedBits;
  /** Frames of each direction; beyond them it is read no faster. */
  readonly unitsPerSecond: number;
  /** The WebSocket is closed after this time without a byte in either direction. Milliseconds. */
  readonly idleMs: number;
  /**
   * The WebSocket is closed if an end reads none of the bytes waiting for it for this long, whatever
   * the other direction does. Milliseconds.
   */
  readonly stallMs: number;
  /** Milliseconds. */
  readonly maxMs: number;
  /** Counts what either end has not read; `null` for a request without. */
  readonly held: HeldMemory | null;
  /** Called once, when both connections have ended. */
  readonly onEnd: (end: TunnelEnd) => void;
}

/** The most that an end may send after it was closed, before it reads that. */
const MAX_DISCARDED_BYTES = 16_777_216;

/** The frames from one end to the other. */
interface Direction {
  readonly name: 'caller' | 'provider';
  readonly source: Duplex;
  readonly target: Duplex;
  readonly scanner: FrameScanner;
  readonly pace: UnitPace;
  readonly stall: StallTimer;
  /** The listener for the end of a write to the target. */
  readonly onTaken: () => void;
  /** Whether the pace pauses the source. */
  isPaced: boolean;
  bytes: number;
  /** The number of bytes that arrived after the close. */
  discarded: number;
  /** Whether the target has received a close frame, after which nothing may follow. */
  isClosed: boolean;
  /** Whether a frame was invalid: later ones are ignored. */
  isRejected: boolean;
}

/**
 * Forwards frames between a caller and a provider unchanged, at the speed of the slower one. It
 * holds only the buffers of the two connections, and one head.
 */
export class Tunnel {
  readonly #options: TunnelOptions;
  readonly #fromCaller: Direction;
  readonly #fromProvider: Direction;
  readonly #idle: NodeJS.Timeout;
  readonly #longest: NodeJS.Timeout;
  readonly #unread: UnreadBytes | null;
  #answer: NodeJS.Timeout | null = null;
  #closing: Pick<TunnelEnd, 'closedBy' | 'code' | 'isBroken'> | null = null;
  #open = 2;

  constructor(options: TunnelOptions) {
    const { caller, provider, idleMs, maxMs, held } = options;
    this.#options = options;
    this.#unread = held === null ? null : this.#createUnread(held);
    this.#fromCaller = this.#createDirection('caller', caller, provider, 'client');
    this.#fromProvider = this.#createDirection('provider', provider, caller, 'server');
    this.#idle = setTimeout(() => this.close(CLOSE_CODES.goingAway), idleMs);
    this.#longest = setTimeout(() => this.close(CLOSE_CODES.goingAway), maxMs);
    this.#connect(this.#fromCaller);
    this.#connect(this.#fromProvider);
  }

  /**
   * Closes both ends for the host: with a frame where one is possible, otherwise by closing the
   * connection.
   */
  close(code: number): void {
    this.#close(code, false);
  }

  #close(code: number, isBroken: boolean): void {
    this.#begin('host', code, isBroken);
    for (const direction of [this.#fromCaller, this.#fromProvider]) {
      this.#sendClose(direction, code);
      // Later bytes are not forwarded, but read for the response, and so that no end loses the
      // frame.
      direction.source.resume();
    }
  }

  #createUnread(held: HeldMemory): UnreadBytes {
    const { caller, provider } = this.#options;
    return new UnreadBytes({
      targets: [caller, provider],
      held,
      countHeld: () => 0,
      // No frame reaches an end that does not read.
      onRejected: () => {
        this.#begin('host', CLOSE_CODES.abnormal);
        this.#cut();
      },
    });
  }

  #createDirection(
    name: Direction['name'],
    source: Duplex,
    target: Duplex,
    sender: FrameSender,
  ): Direction {
    const { maxFrameBytes, reservedBits, unitsPerSecond, stallMs } = this.#options;
    const scanner = new FrameScanner({ sender, maxFrameBytes, reservedBits });
    const pace = new UnitPace(unitsPerSecond);
    const onStall = () => this.close(CLOSE_CODES.goingAway);
    const stall = new StallTimer({ target, timeoutMs: stallMs, onStall });
    const onTaken = () => {
      stall.onTaken();
      this.#unread?.onTaken();
    };
    const state = { isPaced: false, bytes: 0, discarded: 0, isClosed: false, isRejected: false };
    return { name, source, target, scanner, pace, stall, onTaken, ...state };
  }

  #connect(direction: Direction): void {
    const { source, target, name } = direction;
    source.on('data', (chunk: Buffer) => this.#receive(direction, chunk));
    // Paused for a full target.
    target.on('drain', () => {
      if (!direction.isPaced) source.resume();
    });
    source.once('end', () => this.#disconnect(direction));
    source.on('error', () => source.destroy());
    source.once('close', () => {
      this.#disconnect(direction);
      this.#open -= 1;
      if (this.#open === 0) this.#finish(name);
    });
    if (source.destroyed) queueMicrotask(() => source.emit('close'));
    else source.resume();
  }

  #receive(direction: Direction, chunk: Buffer): void {
    const { scanner, source, target } = direction;
    const startedAt = performance.now();
    const framesBefore = scanner.frames;
    const isOpen = this.#closing === null;
    if (isOpen) this.#idle.refresh();
    if (direction.isClosed || !target.writable) direction.discarded += chunk.length;
    if (direction.discarded > MAX_DISCARDED_BYTES) {
      this.#cut();
      return;
    }
    const { parts, scanned } = scanner.push(chunk, isOpen ? direction.pace.turnUnits : undefined);
    if (!direction.isClosed && target.writable) {
      let isTaken = true;
      if (isOpen) direction.stall.beforeWrite();
      for (const part of parts) {
        direction.bytes += part.length;
        isTaken = target.write(part, direction.onTaken);
      }
      this.#unread?.check();
      if (!isTaken) source.pause();
    }
    if (scanner.closeCode !== null) this.#receiveClose(direction, scanner.closeCode);
    else if (scanner.violation !== null) this.#rejectFrame(direction, scanner.violation.code);
    else if (isOpen) {
      const pauseMs = direction.pace.pass(scanner.frames - framesBefore, startedAt);
      const rest = chunk.subarray(scanned);
      if (pauseMs !== null || rest.length > 0) this.#pause(direction, pauseMs ?? 0, rest);
    }
  }

  /** @param rest the bytes that are read again afterwards */
  #pause(direction: Direction, pauseMs: number, rest: Buffer): void {
    const { pace, source, target } = direction;
    direction.isPaced = true;
    source.pause();
    if (rest.length > 0) source.unshift(rest);
    pace.wait(pauseMs, () => {
      direction.isPaced = false;
      if (!target.writableNeedDrain) source.resume();
    });
  }

  #receiveClose(direction: Direction, code: number): void {
    direction.isClosed = true;
    this.#begin(direction.name, code);
    // Nothing follows, but the end of the connection must be detected.
    direction.source.resume();
    if (this.#closing?.closedBy === 'host') direction.source.end();
    else if (this.#fromCaller.isClosed && this.#fromProvider.isClosed) {
      direction.source.end();
      direction.target.end();
    }
  }

  /** Frames after an invalid one have no meaning, including a response. */
  #rejectFrame(direction: Direction, code: number): void {
    if (direction.isRejected) return;
    direction.isRejected = true;
    this.#close(code, direction.name === 'provider');
    direction.source.end();
  }

  #sendClose(direction: Direction, code: number): void {
    const { name, scanner, target } = direction;
    if (direction.isClosed) return;
    direction.isClosed = true;
    if (scanner.isBetweenFrames && target.writable) {
      target.write(createCloseFrame(code, name === 'caller' ? 'client' : 'server'));
    } else target.destroy();
  }

  /** Only the first close is recorded. */
  #begin(closedBy: ClosedBy, code: number, isBroken = false): void {
    if (this.#closing !== null) return;
    this.#closing = { closedBy, code, isBroken };
    clearTimeout(this.#longest);
    clearTimeout(this.#idle);
    for (const { stall } of [this.#fromCaller, this.#fromProvider]) stall.end();
    this.#answer = setTimeout(() => this.#cut(), CLOSE_ANSWER_MS);
  }

  /** Forwards the end once the other side has read all earlier bytes. */
  #disconnect({ name, target }: Direction): void {
    this.#begin(name, CLOSE_CODES.abnormal, name === 'provider');
    if (target.destroyed) return;
    target.end();
    destroyLater(target);
  }

  #cut(): void {
    this.#fromCaller.source.destroy();
    this.#fromProvider.source.destroy();
  }

  #finish(last: Direction['name']): void {
    this.#begin(last, CLOSE_CODES.abnormal, last === 'provider');
    if (this.#answer !== null) clearTimeout(this.#answer);
    for (const { pace } of [this.#fromCaller, this.#fromProvider]) pace.end();
    if (this.#closing === null) return;
    this.#options.onEnd({
      ...this.#closing,
      received: countsOf(this.#fromCaller),
      sent: countsOf(this.#fromProvider),
    });
  }
}

function countsOf({ bytes, scanner: { frames } }: Direction): TunnelCounts {
  return { bytes, frames };
}
