import type { Transferable } from 'node:worker_threads';

/** Bytes in a message between host and thread: a string with one character per byte, or transferred memory. */
export type SentBytes = string | Uint8Array;

/** A shorter string is cheaper than a transfer, which allocates memory on both sides. Bytes. */
const TRANSFER_FROM_BYTES = 16_384;

/**
 * Always copies: the host may send a request again, a handler may respond from a cache, and a small Buffer
 * is a view of a shared pool of 8 KiB, which a transfer would detach.
 */
export function sendBytes(bytes: Uint8Array, transfers: Transferable[]): SentBytes {
  if (bytes.length < TRANSFER_FROM_BYTES) return toBuffer(bytes).toString('latin1');
  const copy = new Uint8Array(bytes);
  transfers.push(copy.buffer);
  return copy;
}

export function receiveBytes(sent: SentBytes): Buffer {
  return typeof sent === 'string' ? Buffer.from(sent, 'latin1') : toBuffer(sent);
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
