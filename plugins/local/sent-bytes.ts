import type { Transferable } from 'node:worker_threads';

/** Below it a copy is cheaper than handing the memory over. Bytes. */
const TRANSFER_FROM_BYTES = 65_536;

/**
 * A copy that can be sent: of a view, Node would send all of the memory behind it (a small Buffer is 8 KiB of a
 * shared pool), and memory that is handed over is lost to whoever had it, be it the host, which may send
 * a request again, or a handler that answers from a cache.
 */
export function copyToSend(bytes: Uint8Array, handedOver: Transferable[]): Uint8Array {
  const copy = new Uint8Array(bytes);
  if (copy.length >= TRANSFER_FROM_BYTES) handedOver.push(copy.buffer);
  return copy;
}
