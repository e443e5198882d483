/**
 * The maximum that is read to count what is left out. The rest of a stream is not awaited. Bytes.
 */
const MAX_COUNTED_BYTES = 16_777_216;

interface BoundedBody {
  /** The first bytes of the body, at most `maxBytes`. */
  readonly bytes: Buffer;
  /** The length of the whole body, or the number of bytes of it that were counted. */
  readonly length: number;
}

/** Reads a body, and holds no more than `maxBytes` of it in memory. */
export async function readBounded(response: Response, maxBytes: number): Promise<BoundedBody> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    const room = maxBytes - length;
    // A copy: a slice would hold the whole piece.
    if (room > 0) pieces.push(room < piece.length ? piece.slice(0, room) : piece);
    length += piece.length;
    if (length > MAX_COUNTED_BYTES) break;
  }
  return { bytes: Buffer.concat(pieces), length };
}
