const SLAB_BYTES = 64 * 1024;

/** Text as UTF-8 in pieces that fill large buffers, since thousands of small ones are slow to collect. */
export class TextBytes {
  readonly #pieces: Buffer[] = [];
  #slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  #start = 0;
  #end = 0;

  append(text: string): void {
    const length = Buffer.byteLength(text);
    if (length > this.#slab.length - this.#end) {
      this.#cut();
      this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, length));
      this.#start = 0;
      this.#end = 0;
    }
    this.#end += this.#slab.write(text, this.#end);
  }

  /** Appends bytes that are not copied. */
  appendShared(bytes: Buffer): void {
    this.#cut();
    this.#pieces.push(bytes);
  }

  /** All that has been appended. */
  end(): readonly Buffer[] {
    this.#cut();
    return this.#pieces;
  }

  #cut(): void {
    if (this.#end > this.#start) this.#pieces.push(this.#slab.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}
