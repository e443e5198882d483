import type { IncomingMessage } from 'node:http';

// A caller whose body was refused may still be sending it. It is read and thrown away, so that the
// answer is not lost in a reset, but not without end.
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;
const MAX_DISCARD_MS = 5000;

/** Bounds what is read of a body that nobody wants after the answer is out. */
export function discardBody(request: IncomingMessage): void {
  if (request.complete) return;
  let size = 0;
  const cut = () => request.destroy();
  const timer = setTimeout(cut, MAX_DISCARD_MS);
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_DISCARDED_BYTES) cut();
  });
  request.once('close', () => clearTimeout(timer));
}
