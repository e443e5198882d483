import type { Duplex } from 'node:stream';

/** The limits of what is read and discarded after the last response of a connection. */
export const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;
export const MAX_DISCARD_MS = 5000;

/**
 * Closes a connection whose client may still be sending. Unread bytes would reset the connection,
 * and the client would lose the response (RFC 9112, 9.6). The host closes its own side at once, and
 * the connection when the client has closed its side. What arrives until then is discarded.
 * @param last the last bytes to send
 */
export function closeLingering(socket: Duplex, last?: Uint8Array): void {
  let bytes = 0;
  const destroy = () => socket.destroy();
  const timer = setTimeout(destroy, MAX_DISCARD_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(last);
  const close = () => {
    if (socket.writableFinished) destroy();
    else socket.once('finish', destroy);
  };
  const discard = () => {
    // The parser of Node would read later bytes as requests.
    socket.removeAllListeners('data').removeAllListeners('end');
    if (socket.readableEnded) close();
    else socket.once('end', close);
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_DISCARDED_BYTES) destroy();
    });
  };
  // While the socket has its parser, Node's server resumes its reads in this event.
  socket.pause().once('resume', discard);
  socket.resume();
}

/** The time for the other end to read the last bytes and to disconnect. Milliseconds. */
const LINGER_MS = 1000;

/** Destroys a connection after a delay: an end that never closes must not keep it open. */
export function destroyLater(connection: Duplex): void {
  const timer = setTimeout(() => connection.destroy(), LINGER_MS);
  connection.once('close', () => clearTimeout(timer));
}
