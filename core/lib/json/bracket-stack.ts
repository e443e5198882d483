const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
const BITS = 8;

/** Opening brackets of JSON, one bit for each. */
export class BracketStack {
  #bits = new Uint8Array(BITS);

  /** Copies `count` brackets from `start` on, one byte for each. */
  copyTo(memory: Uint8Array, offset: number, start: number, count: number): void {
    for (let index = 0; index < count; index += 1) {
      const level = start + index;
      const bit = ((this.#bits[level >> 3] ?? 0) >> (level % BITS)) & 1;
      memory[offset + index] = bit === 1 ? OPEN_OBJECT : OPEN_ARRAY;
    }
  }

  /** Replaces the brackets from `start` on with `count` bytes. */
  copyFrom(memory: Uint8Array, offset: number, start: number, count: number): void {
    const needed = Math.ceil((start + count) / BITS);
    if (needed > this.#bits.length) {
      const grown = new Uint8Array(2 * needed);
      grown.set(this.#bits);
      this.#bits = grown;
    }
    for (let index = 0; index < count; index += 1) {
      const level = start + index;
      const mask = 1 << (level % BITS);
      const byte = this.#bits[level >> 3] ?? 0;
      const isObject = memory[offset + index] === OPEN_OBJECT;
      this.#bits[level >> 3] = isObject ? byte | mask : byte & ~mask;
    }
  }
}
