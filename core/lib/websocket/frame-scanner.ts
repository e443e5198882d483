/** Close codes of RFC 6455, 7.4.1, that the host sends, or records if no frame has one. */
export const CLOSE_CODES = {
  goingAway: 1001,
  protocolError: 1002,
  noCode: 1005,
  abnormal: 1006,
  policyViolation: 1008,
  tooLarge: 1009,
  serviceRestart: 1012,
} as const;

/**
 * The sender of the frames: those of clients are masked, those of servers are not (RFC 6455, 5.1).
 */
export type FrameSender = 'client' | 'server';

/**
 * The reserved bits that frames may set: those of `permessage-deflate`, or any for an unknown
 * extension.
 */
export type ReservedBits = 'none' | 'deflate' | 'any';

/** The reason why a frame is not forwarded. */
interface FrameViolation {
  /** The code with which the connection is closed. */
  readonly code: number;
  /** Continues `a frame`. */
  readonly problem: string;
}

interface FrameScannerOptions {
  readonly sender: FrameSender;
  /** A frame with a longer payload is a violation. Bytes. */
  readonly maxFrameBytes: number;
  readonly reservedBits: ReservedBits;
}

/** A head of 2 bytes, a length of 8 and a mask of 4. */
const MAX_HEAD_BYTES = 14;
const MAX_CONTROL_BYTES = 125;
const CODE_BYTES = 2;
const EMPTY = Buffer.alloc(0);

const FIN = 0x80;
const RSV1 = 0x40;
const RSV = 0x70;
const MASKED = 0x80;
const TWO_BYTES = 126;
const EIGHT_BYTES = 127;
const LARGEST_OF_TWO = 0xffff;
const HIGHEST_BIT = 0x80000000;
const TWO_TO_32 = 0x1_0000_0000;

const CONTINUATION = 0x0;
const BINARY = 0x2;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;

interface FrameHead {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payloadBytes: number;
}

/**
 * Parses the heads of the frames of one direction, and forwards all bytes unchanged. A head is held
 * until it is complete and valid, so that no part of an invalid frame is forwarded.
 */
export class FrameScanner {
  /** The number of frames whose head was forwarded. */
  frames = 0;
  /** The code of the close frame; `null` before it is complete. */
  closeCode: number | null = null;
  violation: FrameViolation | null = null;
  readonly #options: FrameScannerOptions;
  readonly #head = Buffer.alloc(MAX_HEAD_BYTES);
  #headBytes = 0;
  /** The number of bytes of the payload that have not arrived. */
  #left = 0;
  /** Whether further frames of a message follow. */
  #isInMessage = false;
  /** The start of the masked payload of a close frame; `null` outside of one. */
  #code: number[] | null = null;
  #mask: Buffer = EMPTY;
  /** Whether the payload of the close frame has a code. */
  #hasCode = false;

  constructor(options: FrameScannerOptions) {
    this.#options = options;
  }

  /** Whether the forwarded bytes end with a complete frame. */
  get isBetweenFrames(): boolean {
    return this.#left === 0;
  }

  /**
   * @param maxFrames the chunk is scanned up to the end of so many frames
   * @returns the bytes to forward: all except an incomplete head, an invalid frame and bytes after
   * a close; and the number of scanned bytes
   */
  push(chunk: Buffer, maxFrames = Number.POSITIVE_INFINITY): { parts: Buffer[]; scanned: number } {
    const parts: Buffer[] = [];
    const lastFrame = this.frames + maxFrames;
    let offset = 0;
    let from = 0;
    const keep = (end: number) => {
      if (end > from) parts.push(chunk.subarray(from, end));
      from = end;
    };
    while (offset < chunk.length && this.violation === null && this.closeCode === null) {
      if (this.#left > 0) {
        offset = this.#takePayload(chunk, offset);
        continue;
      }
      offset = this.#skipShortFrames(chunk, offset, lastFrame);
      if (this.frames >= lastFrame || offset === chunk.length) break;
      const start = offset;
      const held = this.#headBytes;
      offset = this.#takeHead(chunk, offset);
      if (!this.#isHeadWhole()) {
        keep(start);
        from = offset;
        continue;
      }
      this.#beginFrame();
      if (this.violation !== null) {
        keep(start);
        return { parts, scanned: offset };
      }
      // The part of the head that arrived with an earlier chunk.
      if (held > 0) parts.push(Buffer.from(this.#head.subarray(0, held)));
      this.#headBytes = 0;
    }
    keep(offset);
    return { parts, scanned: offset };
  }

  /** Skips whole short frames that are valid: one by one, many of them are costly. */
  #skipShortFrames(chunk: Buffer, start: number, lastFrame: number): number {
    if (this.#headBytes > 0) return start;
    const { sender, maxFrameBytes } = this.#options;
    const mask = sender === 'client' ? MASKED : 0;
    const headBytes = sender === 'client' ? 6 : 2;
    const maxBytes = Math.min(maxFrameBytes, MAX_CONTROL_BYTES);
    let offset = start;
    while (this.frames < lastFrame && offset + headBytes <= chunk.length) {
      const first = chunk[offset] ?? 0;
      const opcode = first & 0x0f;
      const payloadBytes = (chunk[offset + 1] ?? 0) - mask;
      const end = offset + headBytes + payloadBytes;
      if (payloadBytes < 0 || payloadBytes > maxBytes || end > chunk.length) break;
      if (!this.#mayReserve(first & RSV, opcode)) break;
      const isFinal = (first & FIN) !== 0;
      const isControl = opcode === PING || opcode === PONG;
      if (isControl ? !isFinal : opcode > BINARY) break;
      if (!isControl) {
        if ((opcode === CONTINUATION) !== this.#isInMessage) break;
        this.#isInMessage = !isFinal;
      }
      this.frames += 1;
      offset = end;
    }
    return offset;
  }

  #takePayload(chunk: Buffer, offset: number): number {
    const end = Math.min(chunk.length, offset + this.#left);
    if (this.#code !== null) {
      for (let index = offset; index < end && this.#code.length < CODE_BYTES; index += 1) {
        this.#code.push(chunk[index] ?? 0);
      }
    }
    this.#left -= end - offset;
    if (this.#left === 0 && this.#code !== null) this.#readCode();
    return end;
  }

  #takeHead(chunk: Buffer, offset: number): number {
    let next = offset;
    while (next < chunk.length && !this.#isHeadWhole()) {
      this.#head[this.#headBytes] = chunk[next] ?? 0;
      this.#headBytes += 1;
      next += 1;
    }
    return next;
  }

  #isHeadWhole(): boolean {
    return this.#headBytes >= 2 && this.#headBytes >= this.#headLength();
  }

  #headLength(): number {
    const second = this.#head[1] ?? 0;
    const length = second & 0x7f;
    const lengthBytes = length === TWO_BYTES ? 2 : length === EIGHT_BYTES ? 8 : 0;
    return 2 + lengthBytes + ((second & MASKED) === 0 ? 0 : 4);
  }

  #beginFrame(): void {
    const head = this.#readHead();
    this.violation = this.#findViolation(head);
    if (this.violation !== null) return;
    const { opcode, isFinal, payloadBytes } = head;
    this.frames += 1;
    this.#left = payloadBytes;
    if (opcode < CLOSE) this.#isInMessage = !isFinal;
    if (opcode !== CLOSE) return;
    this.#code = [];
    this.#hasCode = payloadBytes >= CODE_BYTES;
    const isMasked = this.#options.sender === 'client';
    this.#mask = isMasked
      ? Buffer.from(this.#head.subarray(this.#headBytes - 4, this.#headBytes))
      : EMPTY;
    if (payloadBytes === 0) this.#readCode();
  }

  #readHead(): FrameHead {
    const [first = 0, second = 0] = this.#head;
    const length = second & 0x7f;
    let payloadBytes = length;
    if (length === TWO_BYTES) payloadBytes = this.#head.readUInt16BE(2);
    if (length === EIGHT_BYTES) {
      payloadBytes = this.#head.readUInt32BE(2) * TWO_TO_32 + this.#head.readUInt32BE(6);
    }
    return { opcode: first & 0x0f, isFinal: (first & FIN) !== 0, payloadBytes };
  }

  #findViolation({ opcode, isFinal, payloadBytes }: FrameHead): FrameViolation | null {
    const { sender, maxFrameBytes } = this.#options;
    const [first = 0, second = 0] = this.#head;
    const isControl = opcode >= CLOSE;
    if (opcode > PONG || (opcode > BINARY && !isControl)) return reject('has a reserved opcode');
    if (!this.#mayReserve(first & RSV, opcode)) return reject('has a reserved bit');
    const isMasked = (second & MASKED) !== 0;
    if (isMasked !== (sender === 'client')) {
      return reject(isMasked ? 'of a server is masked' : 'of a client is not masked');
    }
    if (!this.#isShortest(second & 0x7f, payloadBytes)) {
      return reject('has a length that is not in its shortest form');
    }
    if (isControl && !isFinal) return reject('of control is fragmented');
    if (isControl && payloadBytes > MAX_CONTROL_BYTES) return reject('of control is too long');
    if (opcode === CLOSE && payloadBytes === 1) return reject('of close has half a code');
    if (opcode === CONTINUATION && !this.#isInMessage) return reject('continues nothing');
    if (!isControl && opcode !== CONTINUATION && this.#isInMessage) {
      return reject('begins a message within another one');
    }
    if (payloadBytes <= maxFrameBytes) return null;
    return { code: CLOSE_CODES.tooLarge, problem: `is over ${maxFrameBytes} bytes` };
  }

  /** `permessage-deflate` marks the first frame of a message (RFC 7692, 6). */
  #mayReserve(bits: number, opcode: number): boolean {
    const { reservedBits } = this.#options;
    if (bits === 0 || reservedBits === 'any') return true;
    return reservedBits === 'deflate' && bits === RSV1 && opcode !== CONTINUATION && opcode < CLOSE;
  }

  #isShortest(length: number, payloadBytes: number): boolean {
    if (length < TWO_BYTES) return true;
    if (length === TWO_BYTES) return payloadBytes >= TWO_BYTES;
    return this.#head.readUInt32BE(2) < HIGHEST_BIT && payloadBytes > LARGEST_OF_TWO;
  }

  #readCode(): void {
    const [high = 0, low = 0] = (this.#code ?? []).map(
      (byte, index) => byte ^ (this.#mask[index] ?? 0),
    );
    this.#code = null;
    this.closeCode = this.#hasCode ? high * 0x100 + low : CLOSE_CODES.noCode;
  }
}

function reject(problem: string): FrameViolation {
  return { code: CLOSE_CODES.protocolError, problem };
}
