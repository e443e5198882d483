const MARK_TEXT = '\u{feff}';
const MARK = Buffer.from(MARK_TEXT);
const NOTHING = Buffer.alloc(0);

/** Returns the bytes behind a byte-order mark, which readers of JSON ignore (RFC 8259, 8.1). */
export function skipMark(bytes: Buffer): Buffer {
  return startsWithMark(bytes) ? bytes.subarray(MARK.length) : bytes;
}

export function startsWithMark(bytes: Uint8Array): boolean {
  return bytes[0] === MARK[0] && bytes[1] === MARK[1] && bytes[2] === MARK[2];
}

/** Works like `skipMark`. */
export function skipMarkOfText(text: string): string {
  return text.startsWith(MARK_TEXT) ? text.slice(MARK_TEXT.length) : text;
}

/** Drops the mark at the start of pieces, which are cut anywhere. */
export function skipMarkOfPieces(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  // Most bodies begin with another byte.
  if (pieces[0]?.[0] !== MARK[0] && pieces[0]?.length !== 0) return pieces;
  const filter = new MarkFilter();
  const kept = pieces.map((piece) => filter.pass(piece));
  return [filter.rest, ...kept];
}

/** Drops a mark at the start of a stream. */
export class MarkFilter {
  /** The start of the stream, while it may become a mark; `null` afterwards. */
  #start: Buffer | null = NOTHING;

  /** What may still become a mark, and does not if the stream ends here. */
  get rest(): Buffer {
    return this.#start ?? NOTHING;
  }

  /** Returns what is known not to be a mark. */
  pass(part: Uint8Array): Buffer {
    const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    if (this.#start === null) return bytes;
    const start = this.#start.length === 0 ? bytes : Buffer.concat([this.#start, bytes]);
    const isBegun = start.length < MARK.length && start.equals(MARK.subarray(0, start.length));
    // Copied, because the part may be overwritten.
    this.#start = isBegun ? Buffer.from(start) : null;
    return isBegun ? NOTHING : skipMark(start);
  }
}
