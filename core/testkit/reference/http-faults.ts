import type { Socket } from 'node:net';
import type { ReferenceFault } from './reference-protocol.js';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n';
const TRICKLE_INTERVAL_MS = 10;

const FAULTS: Readonly<Record<ReferenceFault, (socket: Socket) => void>> = {
  malformed: (socket) => socket.end('HTTP/1.1 not a status line\r\n\r\n'),
  cut_short: (socket) => socket.end(`${HEAD}{"cut":`),
  half_close: (socket) => socket.end(),
  reset: (socket) => {
    // A Unix socket cannot be reset: its peer sees a close.
    if (socket.remoteAddress === undefined) socket.destroy();
    else socket.resetAndDestroy();
  },
  trickle: (socket) => {
    socket.write(HEAD);
    const timer = setInterval(() => socket.write(' '), TRICKLE_INTERVAL_MS);
    socket.on('close', () => clearInterval(timer));
  },
};

/** Injects the fault into an HTTP/1.1 connection. */
export function injectFault(fault: ReferenceFault, socket: Socket): void {
  FAULTS[fault](socket);
}
