/** The fields of one message by number. Repeated fields are in wire order. */
export interface ProtobufFields {
  messages(field: number): readonly ProtobufFields[];
  text(field: number): string;
  hex(field: number): string;
  /** A varint or fixed-width number; 0 if absent. */
  integer(field: number): bigint;
  double(field: number): number;
  has(field: number): boolean;
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

/** https://protobuf.dev/programming-guides/encoding/. @throws for bytes that are not protobuf. */
export function readProtobuf(bytes: Buffer): ProtobufFields {
  const fields = readFields(bytes);
  const last = (field: number) => fields.get(field)?.at(-1);
  const bytesOf = (field: number) => {
    const value = last(field) ?? Buffer.alloc(0);
    if (typeof value === 'bigint') throw new Error(`field ${field} is a number`);
    return value;
  };
  return {
    messages: (field) => (fields.get(field) ?? []).map((value) => readProtobuf(toBuffer(value))),
    text: (field) => bytesOf(field).toString('utf8'),
    hex: (field) => bytesOf(field).toString('hex'),
    integer: (field) => {
      const value = last(field) ?? 0n;
      return typeof value === 'bigint' ? value : value.readBigUInt64LE();
    },
    double: (field) => bytesOf(field).readDoubleLE(),
    has: (field) => fields.has(field),
  };
}

function readFields(bytes: Buffer): Map<number, (bigint | Buffer)[]> {
  const reader: Reader = { bytes, at: 0 };
  const fields = new Map<number, (bigint | Buffer)[]>();
  while (reader.at < bytes.length) {
    const tag = readVarint(reader);
    const field = Number(tag >> 3n);
    const value = readValue(reader, Number(tag & 7n));
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

function readValue(reader: Reader, wireType: number): bigint | Buffer {
  if (wireType === 0) return readVarint(reader);
  if (wireType === 1) return readBytes(reader, 8);
  if (wireType === 2) return readBytes(reader, Number(readVarint(reader)));
  if (wireType === 5) return readBytes(reader, 4);
  throw new Error(`unknown wire type ${wireType}`);
}

function readBytes(reader: Reader, length: number): Buffer {
  const end = reader.at + length;
  if (end > reader.bytes.length) throw new Error('the message is cut short');
  const read = reader.bytes.subarray(reader.at, end);
  reader.at = end;
  return read;
}

function readVarint(reader: Reader): bigint {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = BigInt(readBytes(reader, 1)[0] ?? 0);
    value |= (byte & 0x7fn) << shift;
    if (byte < 0x80n) return value;
  }
}

function toBuffer(value: bigint | Buffer): Buffer {
  if (typeof value === 'bigint') throw new Error('a number where a message is expected');
  return value;
}
