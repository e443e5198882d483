/** Bytes of a broker (AMQP 0-9-1), written without the library of the plugin. */
export const METHOD = 1;
export const HEADER = 2;
export const BODY = 3;
export const HEARTBEAT_TYPE = 8;

const MAX_FRAME_BYTES = 131_072;
const CORRELATION_ID = 0x0400;
const HEADERS = 0x2000;

export function frame(type: number, channel: number, ...parts: readonly Buffer[]): Buffer {
  const payload = Buffer.concat(parts);
  const head = Buffer.alloc(7);
  head.writeUInt8(type);
  head.writeUInt16BE(channel, 1);
  head.writeUInt32BE(payload.length, 3);
  return Buffer.concat([head, payload, Buffer.of(0xce)]);
}

export function ids(classId: number, methodId: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(classId);
  bytes.writeUInt16BE(methodId, 2);
  return bytes;
}

export function short(text: string): Buffer {
  return Buffer.from([Buffer.byteLength(text), ...Buffer.from(text)]);
}

export function long(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function sized(bytes: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(bytes.length);
  return Buffer.concat([size, bytes]);
}

export const START = frame(
  ...([METHOD, 0, ids(10, 10)] as const),
  Buffer.from([0, 9, 0, 0, 0, 0]),
  Buffer.alloc(8),
);

export function tune(frameMax: number, heartbeat = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(frameMax, 2);
  bytes.writeUInt16BE(heartbeat, 6);
  return frame(METHOD, 0, ids(10, 30), bytes);
}

export const OPEN_OK = frame(METHOD, 0, ids(10, 41), Buffer.of(0));
export const HEARTBEAT = frame(HEARTBEAT_TYPE, 0);
export const channelOk = (channel = 1) => frame(METHOD, channel, ids(20, 11), Buffer.alloc(4));
export const CONFIRM_OK = frame(METHOD, 1, ids(85, 11));
export const CONSUME_OK = frame(METHOD, 1, ids(60, 21), short('tag'));

/** What a broker that does nothing wrong answers to each request of the adapter before the first call. */
export const GREETING: readonly Buffer[] = [
  START,
  tune(MAX_FRAME_BYTES),
  OPEN_OK,
  channelOk(),
  CONFIRM_OK,
  CONSUME_OK,
];

export function deliver(tag: number, consumer = 'tag'): Buffer {
  const place = [Buffer.of(0), short(''), short('key')];
  return frame(METHOD, 1, ids(60, 60), short(consumer), long(tag), ...place);
}

/** The header of a message without properties. */
export function header(size: number): Buffer {
  return frame(HEADER, 1, Buffer.from([0, 60, 0, 0]), long(size), Buffer.of(0, 0));
}

interface Properties {
  readonly correlationId?: string;
  /** Fields of the table, as bytes: see {@link field}. */
  readonly headers?: readonly Buffer[];
}

/** A message: its header, and its body in frames. @param size what the header says of the body */
export function message(
  { correlationId, headers }: Properties,
  body: Buffer,
  size = body.length,
): Buffer {
  const flags = Buffer.alloc(2);
  const isKnown = correlationId !== undefined;
  flags.writeUInt16BE((isKnown ? CORRELATION_ID : 0) + (headers ? HEADERS : 0));
  const values = [
    ...(headers === undefined ? [] : [sized(Buffer.concat(headers))]),
    ...(isKnown ? [short(correlationId)] : []),
  ];
  const head = frame(HEADER, 1, Buffer.from([0, 60, 0, 0]), long(size), flags, ...values);
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += MAX_FRAME_BYTES - 8) {
    parts.push(frame(BODY, 1, body.subarray(at, at + MAX_FRAME_BYTES - 8)));
  }
  return Buffer.concat([head, ...parts]);
}

/** A text of a table of headers. */
export function field(name: string, text: string): Buffer {
  return Buffer.concat([short(name), Buffer.from('S'), sized(Buffer.from(text))]);
}

/** A list of texts of a table of headers. */
export function listField(name: string, texts: readonly string[]): Buffer {
  const values = texts.map((text) => Buffer.concat([Buffer.from('S'), sized(Buffer.from(text))]));
  return Buffer.concat([short(name), Buffer.from('A'), sized(Buffer.concat(values))]);
}

/** A table in a table, and so on. */
export function nestedField(depth: number): Buffer {
  let table = sized(Buffer.alloc(0));
  for (let count = 0; count < depth; count += 1) {
    table = sized(Buffer.concat([short('a'), Buffer.from('F'), table]));
  }
  return Buffer.concat([short('a'), Buffer.from('F'), table]);
}

/** `basic.return`, without its message. */
export const RETURN = frame(
  ...([METHOD, 1, ids(60, 50), Buffer.from([1, 56])] as const),
  ...[short('NO_ROUTE'), short(''), short('q')],
);

export const ack = (tag: number) => frame(METHOD, 1, ids(60, 80), long(tag), Buffer.of(1));
export const nack = (tag: number) => frame(METHOD, 1, ids(60, 120), long(tag), Buffer.of(0));
export const cancel = frame(METHOD, 1, ids(60, 30), short('tag'), Buffer.of(1));
export const blocked = (reason: string) => frame(METHOD, 0, ids(10, 60), short(reason));
export const UNBLOCKED = frame(METHOD, 0, ids(10, 61));
