import type { Duplex } from 'node:stream';
import { expect } from 'chai';
import {
  createFrame,
  openRaw,
  useWebSockets,
  writeAccepted,
  writeHandshake,
} from '../../support/http/use-websockets.js';
import { waitUntil } from '../../support/http/wait-until.js';

const CONTINUATION = 0x0;
const TEXT = 0x1;
const BINARY = 0x2;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;
const MASK = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);

interface Frame {
  readonly opcode: number;
  readonly payload: Uint8Array;
  readonly fin?: boolean;
  readonly rsv?: number;
}

const frame = (
  opcode: number,
  payload: string | Uint8Array = '',
  overrides: Partial<Frame> = {},
) => {
  return { opcode, payload: Buffer.from(payload as string), ...overrides };
};
const filled = (length: number) => Buffer.alloc(length, '*');
const part = (opcode: number, payload: string | Uint8Array) =>
  frame(opcode, payload, { fin: false });
const close = (code: number, reason = '') =>
  frame(CLOSE, Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]));

/** `é` and a snowman, cut within a character, and what is no UTF-8 at all. */
const CUT_UTF8 = [Buffer.from('é☃').subarray(0, 3), Buffer.from('é☃').subarray(3)] as const;
const INVALID_UTF8 = Buffer.from([0xce, 0xba, 0xed, 0xa0, 0x80, 0xff, 0xfe]);

/** The cases of the Autobahn test suite that concern an end between two others, by their numbers there. */
const CASES: readonly (readonly [name: string, frames: readonly Frame[], deflate?: boolean])[] = [
  ...[0, 125, 126, 127, 128, 65_535, 65_536].flatMap((length) => [
    [`1.1 text of ${length} bytes`, [frame(TEXT, filled(length))]] as const,
    [`1.2 binary of ${length} bytes`, [frame(BINARY, filled(length))]] as const,
  ]),
  ['2.1 an empty ping', [frame(PING)]],
  ['2.4 a ping of 125 bytes', [frame(PING, filled(125))]],
  ['2.7 a pong that answers nothing', [frame(PONG, 'unasked'), frame(PING, 'then')]],
  ['2.10 ten pings', Array.from({ length: 10 }, (_, index) => frame(PING, `ping ${index}`))],
  ['5.3 a message in two frames', [part(TEXT, 'fragment1'), frame(CONTINUATION, 'fragment2')]],
  [
    '5.6 a ping between the frames of a message',
    [part(TEXT, 'fragment1'), frame(PING, 'between'), frame(CONTINUATION, 'fragment2')],
  ],
  [
    '5.19 pings between five frames, some of them empty',
    [
      part(TEXT, 'fragment1'),
      part(CONTINUATION, ''),
      frame(PING, 'pongme 1!'),
      part(CONTINUATION, 'fragment3'),
      frame(PING, 'pongme 2!'),
      frame(CONTINUATION, 'fragment5'),
    ],
  ],
  [
    '6.2 text that is cut within a character',
    [part(TEXT, CUT_UTF8[0]), frame(CONTINUATION, CUT_UTF8[1])],
  ],
  ['6.3 text that is no UTF-8', [frame(TEXT, INVALID_UTF8)]],
  ['7.3.1 a close without a code', [frame(CLOSE)]],
  ['7.3.5 a close with the longest reason', [close(1000, '*'.repeat(123))]],
  [
    '7.5.1 a close with a reason that is no UTF-8',
    [frame(CLOSE, Buffer.concat([Buffer.from([3, 232]), INVALID_UTF8]))],
  ],
  ...[1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999].map(
    (code) => [`7.7 a close with ${code}`, [close(code)]] as const,
  ),
  ...[0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65_535].map(
    (code) => [`7.9 a close with ${code}, which is not valid`, [close(code)]] as const,
  ),
  [
    '9.7 one message in 256 frames',
    [
      part(BINARY, filled(256)),
      ...Array.from({ length: 254 }, () => part(CONTINUATION, filled(256))),
      frame(CONTINUATION, filled(256)),
    ],
  ],
  ['12.1 a compressed message', [frame(TEXT, filled(64), { rsv: 4 })], true],
  [
    '12.2 a compressed message in two frames',
    [{ ...part(TEXT, filled(64)), rsv: 4 }, frame(CONTINUATION, filled(8))],
    true,
  ],
];
/** Bytes of each write: as a whole, and so that heads and payloads are cut. */
const CHOPS = [Number.POSITIVE_INFINITY, 997, 1];
/** One byte in each write is for the short ones. */
const LONGEST_IN_BYTES = 600;

const write = (frames: readonly Frame[], mask: Buffer | null) =>
  Buffer.concat(
    frames.map(({ opcode, payload, ...more }) => createFrame(opcode, payload, { ...more, mask })),
  );

describe('frames of the Autobahn test suite', () => {
  const setup = useWebSockets();

  for (const [name, frames, isCompressed = false] of CASES) {
    it(`pass byte for byte: ${name}`, async () => {
      const [fromClient, fromServer] = [write(frames, MASK), write(frames, null)];
      const chops = CHOPS.filter((size) => size > 1 || fromClient.length <= LONGEST_IN_BYTES);
      for (const size of chops) {
        const chunks: Buffer[] = [];
        let provider: Duplex | undefined;
        const extension = 'sec-websocket-extensions: permessage-deflate';
        setup.upgrade((request, connection, head) => {
          provider = connection;
          chunks.push(head);
          connection.on('data', (chunk: Buffer) => chunks.push(chunk));
          connection.write(writeAccepted(request, isCompressed ? [extension] : []));
        });
        const client = await openRaw(setup.host.port);
        const offered = isCompressed ? 'permessage-deflate' : null;
        client.write(
          writeHandshake('/modules/chat/http/socket', { 'sec-websocket-extensions': offered }),
        );
        await client.until('\r\n\r\n');
        const headBytes = client.received.length;
        await chop(fromClient, size, (chunk) => client.write(chunk));
        await waitUntil('the provider has all', () => lengthOf(chunks) >= fromClient.length);
        expect(Buffer.concat(chunks).equals(fromClient), 'what the provider got').to.equal(true);
        await chop(fromServer, size, (chunk) => provider?.write(chunk));
        await waitUntil(
          'the client has all',
          () => client.received.length >= headBytes + fromServer.length,
        );
        expect(client.received.subarray(headBytes).equals(fromServer)).to.equal(true);
        client.socket.destroy();
        provider?.destroy();
      }
    });
  }
});

const lengthOf = (chunks: readonly Buffer[]) => chunks.reduce((sum, { length }) => sum + length, 0);

/** Each write is sent on its own. */
async function chop(bytes: Buffer, size: number, send: (chunk: Buffer) => void): Promise<void> {
  for (let start = 0; start < bytes.length; start += size) {
    send(bytes.subarray(start, Math.min(bytes.length, start + size)));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
