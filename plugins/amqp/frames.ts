import type { AMQPProperties } from '@cloudamqp/amqp-client';
import { AMQPView } from '@cloudamqp/amqp-client/amqp-view';

/** Types of frames (AMQP 0-9-1, 4.2.3). */
export const FRAME = { method: 1, header: 2, body: 3, heartbeat: 8 } as const;
/** Class and method in one number. */
export const METHOD = {
  return: (60 << 16) | 50,
  deliver: (60 << 16) | 60,
  ack: (60 << 16) | 80,
  nack: (60 << 16) | 120,
} as const;

const PUBLISH = (60 << 16) | 40;
const BASIC_CLASS = 60;
const MANDATORY = 1;

/** Type, channel and size of the payload. Bytes. */
export const FRAME_HEAD_BYTES = 7;
const FRAME_END = 0xce;
/** The tag `L` of a field, and the length of both. */
const UNSIGNED_LONG = 0x4c;
const UNSIGNED_LONG_BYTES = 9;
/** Bytes around the payload of a frame. */
const OVERHEAD_BYTES = FRAME_HEAD_BYTES + 1;

export const HEARTBEAT = Uint8Array.from([FRAME.heartbeat, 0, 0, 0, 0, 0, 0, FRAME_END]);
export const PROTOCOL_HEADER = Uint8Array.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);

/** Splits what a broker sends into frames. */
export class FrameReader {
  readonly #onFrame: (frame: Buffer) => void;
  readonly #maxFrameBytes: number;
  #parts: Buffer[] = [];
  #length = 0;
  #needed = FRAME_HEAD_BYTES;

  constructor(maxFrameBytes: number, onFrame: (frame: Buffer) => void) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#onFrame = onFrame;
  }

  /** @throws Error for bytes that are not frames, or a frame that is too long. */
  read(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= this.#needed) {
      const joined = this.#join();
      const size = joined.readUInt32BE(3) + OVERHEAD_BYTES;
      if (size > this.#maxFrameBytes) throw new Error('the broker sent a frame that is too long');
      this.#needed = size;
      if (this.#length < size) return;
      if (joined[size - 1] !== FRAME_END) throw new Error('the broker sent bytes without a frame');
      this.#parts = size === joined.length ? [] : [joined.subarray(size)];
      this.#length -= size;
      this.#needed = FRAME_HEAD_BYTES;
      this.#onFrame(joined.subarray(0, size));
    }
  }

  #join(): Buffer {
    const [first] = this.#parts;
    if (this.#parts.length === 1 && first !== undefined) return first;
    const joined = Buffer.concat(this.#parts, this.#length);
    this.#parts = [joined];
    return joined;
  }
}

/** RabbitMQ also passes on unsigned integers of 64 bits, for which the library has no type. */
class FrameView extends AMQPView {
  override getField(at: number, littleEndian?: boolean): ReturnType<AMQPView['getField']> {
    if (this.getUint8(at) !== UNSIGNED_LONG) return super.getField(at, littleEndian);
    return [Number(this.getBigUint64(at + 1, littleEndian)), UNSIGNED_LONG_BYTES];
  }
}

/** A frame for the library, which decodes it. Methods and headers are copied, so that a length in them cannot reach past them. */
export function toView(frame: Buffer): AMQPView {
  if (frame[0] === FRAME.body) return new AMQPView(frame.buffer, frame.byteOffset, frame.length);
  return new FrameView(new Uint8Array(frame).buffer);
}

/** The exchange, the key and the properties of a message. */
export interface Envelope {
  readonly exchange: string;
  readonly routingKey: string;
  readonly properties: AMQPProperties;
}

/** Writes messages into frames of the negotiated size. */
export class MessageWriter {
  readonly #maxFrameBytes: number;
  /** Used for one message at a time. */
  readonly #scratch: AMQPView;

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#scratch = new AMQPView(new ArrayBuffer(2 * maxFrameBytes));
  }

  /**
   * The frames before the body of a mandatory message.
   * @throws Error for properties that are longer than a frame, or a name that is too long.
   */
  writeHead(channel: number, envelope: Envelope, bodyLength: number): Buffer {
    const view = this.#scratch;
    let at = startFrame(view, 0, FRAME.method, channel);
    view.setUint32(at, PUBLISH);
    view.setUint16(at + 4, 0);
    at += 6;
    at += view.setShortString(at, envelope.exchange);
    at += view.setShortString(at, envelope.routingKey);
    view.setUint8(at, MANDATORY);
    const headerAt = this.#endFrame(0, at + 1);
    at = startFrame(view, headerAt, FRAME.header, channel);
    view.setUint32(at, BASIC_CLASS << 16);
    view.setUint64(at + 4, bodyLength);
    at += 12;
    at += view.setProperties(at, envelope.properties);
    const end = this.#endFrame(headerAt, at);
    return Buffer.from(view.buffer.slice(0, end) as ArrayBuffer);
  }

  /** The frames of the body; its bytes are not copied. */
  *writeBody(channel: number, body: Uint8Array): Generator<Uint8Array> {
    const most = this.#maxFrameBytes - OVERHEAD_BYTES;
    for (let start = 0; start < body.length; start += most) {
      const part = body.subarray(start, start + most);
      const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
      head.writeUInt8(FRAME.body, 0);
      head.writeUInt16BE(channel, 1);
      head.writeUInt32BE(part.length, 3);
      yield head;
      yield part;
      yield END;
    }
  }

  /** @returns the place behind the frame */
  #endFrame(start: number, end: number): number {
    const view = this.#scratch;
    const length = end - start - FRAME_HEAD_BYTES;
    if (length + OVERHEAD_BYTES > this.#maxFrameBytes) throw new RangeError('longer than a frame');
    view.setUint32(start + 3, length);
    view.setUint8(end, FRAME_END);
    return end + 1;
  }
}

const END = Uint8Array.from([FRAME_END]);

function startFrame(view: AMQPView, at: number, type: number, channel: number): number {
  view.setUint8(at, type);
  view.setUint16(at + 1, channel);
  return at + FRAME_HEAD_BYTES;
}
