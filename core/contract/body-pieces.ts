/** An array entry and its buffer take about 100 bytes, so small pieces are joined. */
const MAX_SMALL_PIECES = 256;
/** Larger pieces stay apart: joining them would block the event loop. Bytes. */
const MAX_JOINED_BYTES = 1_048_576;

/**
 * Collects the pieces of a body that is held in memory. The sender chooses their size: 4 MiB in pieces of one byte would
 * take 400 MiB as a list. {@link Outcome.body} may be its `list`.
 */
export class BodyPieces {
  /** The body, in order. Small pieces are joined, so that its entries are not the pieces that were added. */
  readonly list: Buffer[] = [];
  /** The number of pieces that are already joined. */
  #joined = 0;
  #length = 0;
  /** The length when pieces were last joined. Bytes. */
  #lengthJoined = 0;

  /** Bytes of all pieces. */
  get length(): number {
    return this.#length;
  }

  /** Keeps the piece itself without copying it, so that it must not change later. */
  add(piece: Buffer): void {
    this.#length += piece.length;
    this.list.push(piece);
    if (this.list.length - this.#joined < MAX_SMALL_PIECES) return;
    if (this.#length - this.#lengthJoined <= MAX_JOINED_BYTES) {
      this.list.push(Buffer.concat(this.list.splice(this.#joined)));
    }
    this.#joined = this.list.length;
    this.#lengthJoined = this.#length;
  }

  /** The whole body. A single piece is not copied. */
  join(): Buffer {
    const [first] = this.list;
    return this.list.length === 1 && first !== undefined
      ? first
      : Buffer.concat(this.list, this.#length);
  }
}
