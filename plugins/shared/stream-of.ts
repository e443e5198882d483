/** A body that is complete, as a stream. */
export async function* streamOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}
