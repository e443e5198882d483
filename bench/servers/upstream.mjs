// The upstream of every system: as little as can answer HTTP/1.1, so that it is never what is measured.
// It finds requests by their blank line and `content-length`, which is all that the systems send.
import { createServer } from 'node:net';
import { PAYLOADS } from '../parts/payloads.mjs';

const HEAD_END = Buffer.from('\r\n\r\n');
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const TRANSFER_ENCODING = /\r\ntransfer-encoding:/i;
const NO_BYTES = Buffer.alloc(0);

const answers = new Map(
  PAYLOADS.map(({ path, answer, type }) => [path, createAnswer('200 OK', Buffer.from(answer), type)]),
);
const notFound = createAnswer('404 Not Found', Buffer.from('null'));
const refused = createAnswer('411 Length Required', Buffer.from('null'));
let served = 0;

const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  let pending = NO_BYTES;
  let bodyLeft = 0;
  let answer = notFound;
  socket.on('data', (chunk) => {
    let bytes = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    pending = NO_BYTES;
    while (bytes.length > 0) {
      if (bodyLeft === 0) {
        const end = bytes.indexOf(HEAD_END);
        if (end === -1) {
          pending = bytes;
          return;
        }
        const head = bytes.toString('latin1', 0, end);
        answer = chooseAnswer(head);
        bodyLeft = Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0);
        bytes = bytes.subarray(end + HEAD_END.length);
      }
      const taken = Math.min(bodyLeft, bytes.length);
      bodyLeft -= taken;
      bytes = bytes.subarray(taken);
      if (bodyLeft > 0) return;
      socket.write(answer);
    }
  });
});

/** @param {string} head */
function chooseAnswer(head) {
  const target = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/1.'));
  if (target === '/served') return createAnswer('200 OK', Buffer.from(String(served)));
  served += 1;
  if (TRANSFER_ENCODING.test(head)) return refused;
  return answers.get(target) ?? notFound;
}

/**
 * @param {string} status
 * @param {Buffer} body
 * @param {string} [type]
 */
function createAnswer(status, body, type = 'application/json') {
  const head = `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${server.address().port}\n`);
});
process.on('SIGTERM', () => process.exit(0));
