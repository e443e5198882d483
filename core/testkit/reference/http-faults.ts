import type { Socket } from 'node:net';
import type { ReferenceFault } from './reference-protocol.js';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n';
const TRICKLE_EVERY_MS = 10;

const FAULTS: Readonly<Record<ReferenceFault, (socket: Socket) => void>> = {
  malformed: (socket) => socket.end('HTTP/1.1 this is no status line\r\n\r\n'),
  cut_short: (socket) => socket.end(`${HEAD}{"cut":`),
  half_close: (socket) => socket.end(),
  reset: (socket) => {
    // A Unix socket knows no reset: its peer sees it close.
    if (socket.remoteAddress === undefined) socket.destroy();
    else socket.resetAndDestroy();
  },
  trickle: (socket) => {
    socket.write(HEAD);
    const timer = setInterval(() => socket.write(' '), TRICKLE_EVERY_MS);
    socket.on('close', () => clearInterval(timer));
  },
};

/** Does to a connection of HTTP/1.1 what the fault says. */
export function carryOutFault(fault: ReferenceFault, socket: Socket): void {
  FAULTS[fault](socket);
}
