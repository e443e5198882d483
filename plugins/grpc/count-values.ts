import type { DescField, DescMessage, Registry } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** Fields and items of a message: about 100 ms of work for the codec. */
const MAX_VALUES = 100_000;
/** As deep as the library reads messages. */
const MAX_DEPTH = 100;
/** A shorter message has too few bytes for more values or levels than the codec can read. */
const SHORT_BYTES = 16_384;
const MAP_VALUE = 2;
const ANY_URL = 1;
const ANY_VALUE = 2;

const FIXED_BYTES: Readonly<Partial<Record<ScalarType, number>>> = {
  [ScalarType.DOUBLE]: 8,
  [ScalarType.FIXED64]: 8,
  [ScalarType.SFIXED64]: 8,
  [ScalarType.FLOAT]: 4,
  [ScalarType.FIXED32]: 4,
  [ScalarType.SFIXED32]: 4,
};

/**
 * Why the codec should not read the bytes of a message; `null` for one within the bounds. A value may take one byte, so
 * the length of a message says little about its cost.
 * @throws Error for bytes that are no message.
 */
export function findTooMany(
  message: DescMessage,
  bytes: Uint8Array,
  registry: Registry,
): string | null {
  if (bytes.length <= SHORT_BYTES) return null;
  const counter = new ValueCounter(registry);
  counter.addMessage(message, bytes, 0);
  return counter.problem;
}

class ValueCounter {
  problem: string | null = null;
  readonly #registry: Registry;
  #count = 0;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  addMessage(message: DescMessage, bytes: Uint8Array, depth: number): void {
    if (depth > MAX_DEPTH) this.problem = `is nested beyond ${MAX_DEPTH} levels`;
    const isAny = message.typeName === 'google.protobuf.Any';
    let url = '';
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len && this.problem === null) {
      const [number, wireType] = reader.tag();
      this.#add(1);
      // The end of a group, whose fields these are.
      if (wireType === WireType.EndGroup) return;
      const isLong = wireType === WireType.LengthDelimited;
      const content = isLong ? reader.bytes() : reader.skip(wireType, number);
      if (!isLong && wireType !== WireType.StartGroup) continue;
      if (isAny && number === ANY_URL) url = Buffer.from(content).toString();
      if (isAny && number === ANY_VALUE) this.#addContent(url, content, depth);
      const field = fieldsOf(message).get(number);
      if (field !== undefined) this.#addField(field, content, depth);
    }
  }

  #addField(field: DescField, content: Uint8Array, depth: number): void {
    if (field.fieldKind === 'map') {
      if (field.message !== undefined) this.#addEntry(field.message, content, depth);
    } else if (field.message !== undefined) {
      this.addMessage(field.message, content, depth + 1);
    } else if (field.fieldKind === 'list') this.#addPacked(field, content);
  }

  #addEntry(message: DescMessage, entry: Uint8Array, depth: number): void {
    const reader = new BinaryReader(entry);
    while (reader.pos < reader.len && this.problem === null) {
      const [number, wireType] = reader.tag();
      this.#add(1);
      if (wireType !== WireType.LengthDelimited) reader.skip(wireType, number);
      else {
        const content = reader.bytes();
        if (number === MAP_VALUE) this.addMessage(message, content, depth + 1);
      }
    }
  }

  #addContent(url: string, content: Uint8Array, depth: number): void {
    const message = this.#registry.getMessage(url.slice(url.lastIndexOf('/') + 1));
    if (message !== undefined) this.addMessage(message, content, depth + 1);
  }

  #addPacked({ scalar }: DescField, content: Uint8Array): void {
    // A text or bytes is one value, which its tag has counted.
    if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return;
    const size = scalar === undefined ? undefined : FIXED_BYTES[scalar];
    if (size !== undefined) this.#add(content.length / size);
    else {
      let count = 0;
      // The last byte of a varint has no continuation bit.
      for (const byte of content) if (byte < 0x80) count += 1;
      this.#add(count);
    }
  }

  #add(count: number): void {
    this.#count += count;
    if (this.#count > MAX_VALUES) this.problem = `has more than ${MAX_VALUES} values`;
  }
}

const fieldsByMessage = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(message: DescMessage): ReadonlyMap<number, DescField> {
  const known = fieldsByMessage.get(message);
  if (known !== undefined) return known;
  const fields = new Map(message.fields.map((field) => [field.number, field]));
  fieldsByMessage.set(message, fields);
  return fields;
}
