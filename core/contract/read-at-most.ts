/** Reads all bytes. Returns `null` as soon as there are more than `maxBytes`. */
export async function readAtMost(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer> | null> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of source) {
    length += piece.length;
    if (length > maxBytes) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
