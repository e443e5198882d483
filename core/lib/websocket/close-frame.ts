import { randomBytes } from 'node:crypto';
import type { FrameSender } from './frame-scanner.js';

const FINAL_CLOSE = 0x88;
const MASKED = 0x80;
const CODE_BYTES = 2;
const MASK_BYTES = 4;

/** The timeout for the response to a close frame. Milliseconds. */
export const CLOSE_ANSWER_MS = 5000;

/** Creates a close frame with only this code; a client's frame is masked (RFC 6455, 5.3). */
export function createCloseFrame(code: number, sender: FrameSender): Buffer {
  const payload = Buffer.from([code >> 8, code & 0xff]);
  if (sender === 'server') return Buffer.from([FINAL_CLOSE, CODE_BYTES, ...payload]);
  const mask = randomBytes(MASK_BYTES);
  const masked = payload.map((byte, index) => byte ^ (mask[index] ?? 0));
  return Buffer.from([FINAL_CLOSE, MASKED | CODE_BYTES, ...mask, ...masked]);
}
