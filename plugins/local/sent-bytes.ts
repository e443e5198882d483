import type { Transferable } from 'node:worker_threads';

/** Bytes as they travel between host and thread: a text with one character a byte, or memory handed over. */
export type SentBytes = string | Uint8Array;

/** Below it a text is cheaper than memory of its own, which has to be made, and collected on both sides. Bytes. */
const TRANSFER_FROM_BYTES = 16_384;

/**
 * Never the memory of whoever has it: the host may send a request again, a handler may answer from a
 * cache, and of a view Node would send all that lies behind it (a small Buffer is 8 KiB of a shared pool).
 */
export function sendBytes(bytes: Uint8Array, handedOver: Transferable[]): SentBytes {
  if (bytes.length < TRANSFER_FROM_BYTES) return toBuffer(bytes).toString('latin1');
  const copy = new Uint8Array(bytes);
  handedOver.push(copy.buffer);
  return copy;
}

export function receiveBytes(sent: SentBytes): Buffer {
  return typeof sent === 'string' ? Buffer.from(sent, 'latin1') : toBuffer(sent);
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
