/** An array entry and its buffer take about 100 bytes, so small pieces are joined. */
const MAX_SMALL_PIECES = 256;

/**
 * Collects the pieces of a body. A client chooses their size: a body of 1 MiB in pieces of one byte would take
 * 100 MiB.
 */
export class BodyPieces {
  readonly #pieces: Uint8Array[] = [];
  /** The pieces before it are joined. */
  #joined = 0;
  #length = 0;

  /** Bytes of all pieces. */
  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    this.#length += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length - this.#joined < MAX_SMALL_PIECES) return;
    this.#pieces.push(Buffer.concat(this.#pieces.splice(this.#joined)));
    this.#joined = this.#pieces.length;
  }

  /** The whole body. A single piece is not copied. */
  join(): Buffer {
    const [first] = this.#pieces;
    if (this.#pieces.length === 1 && Buffer.isBuffer(first)) return first;
    return Buffer.concat(this.#pieces, this.#length);
  }
}
