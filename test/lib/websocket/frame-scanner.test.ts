import { expect } from 'chai';
import fc from 'fast-check';
import { createCloseFrame } from '../../../core/lib/websocket/close-frame.js';
import { FrameScanner, type ReservedBits } from '../../../core/lib/websocket/frame-scanner.js';
import { createFrame } from '../../support/http/use-websockets.js';

const MASK = Buffer.from([7, 11, 13, 17]);
const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10];

interface Options {
  readonly sender?: 'client' | 'server';
  readonly maxFrameBytes?: number;
  readonly reservedBits?: ReservedBits;
}

const createScanner = (options: Options = {}) =>
  new FrameScanner({ sender: 'server', maxFrameBytes: 1 << 20, reservedBits: 'none', ...options });

function scan(bytes: Buffer, options: Options = {}, sizes: readonly number[] = []) {
  const scanner = createScanner(options);
  const parts: Buffer[] = [];
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    parts.push(...scanner.push(bytes.subarray(at, at + size)).parts);
    at += size;
  }
  const { frames, closeCode, violation, isBetweenFrames } = scanner;
  return { passed: Buffer.concat(parts), frames, closeCode, violation, isBetweenFrames };
}

describe('frame scanner', () => {
  for (const size of [0, 1, 125, 126, 127, 128, 65_535, 65_536, 131_072]) {
    it(`passes frames of ${size} bytes unchanged, in any pieces`, () => {
      const bytes = Buffer.concat([
        createFrame(TEXT, Buffer.alloc(size, 'x')),
        createFrame(BINARY, Buffer.alloc(size, 1)),
      ]);
      for (const pieces of [[], [1, 1, 1, 1, 1, 1], [997, 2, 3]]) {
        expect(scan(bytes, {}, pieces)).to.deep.include({
          passed: bytes,
          frames: 2,
          violation: null,
        });
      }
      const masked = createFrame(TEXT, Buffer.alloc(size, 'x'), { mask: MASK });
      expect(scan(masked, { sender: 'client' }).passed).to.deep.equal(masked);
    });
  }

  it('passes fragments, and control frames between them', () => {
    const bytes = Buffer.concat([
      createFrame(TEXT, 'one', { fin: false }),
      createFrame(PING, 'ping'),
      createFrame(CONTINUATION, 'two', { fin: false }),
      createFrame(PONG, Buffer.alloc(125)),
      createFrame(CONTINUATION, 'three'),
      createFrame(BINARY, 'next'),
    ]);
    expect(scan(bytes)).to.deep.include({ passed: bytes, frames: 6, violation: null });
  });

  for (const [title, given, options] of [
    ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map(
      (opcode) => [`a reserved opcode ${opcode}`, [createFrame(opcode, '')], {}] as const,
    ),
    ...[1, 2, 4, 7].map(
      (rsv) =>
        [
          `reserved bits ${rsv} without an extension`,
          [createFrame(TEXT, 'x', { rsv })],
          {},
        ] as const,
    ),
    ...[1, 2, 3, 5].map(
      (rsv) =>
        [
          `reserved bits ${rsv} of no deflate`,
          [createFrame(TEXT, 'x', { rsv })],
          { reservedBits: 'deflate' },
        ] as const,
    ),
    [
      'a compressed control frame',
      [createFrame(PING, '', { rsv: 4 })],
      { reservedBits: 'deflate' },
    ],
    [
      'a compressed continuation',
      [createFrame(TEXT, 'x', { fin: false }), createFrame(CONTINUATION, 'x', { rsv: 4 })],
      { reservedBits: 'deflate' },
    ],
    ['a masked frame of a server', [createFrame(TEXT, 'x', { mask: MASK })], {}],
    ['a frame of a client that is not masked', [createFrame(TEXT, 'x')], { sender: 'client' }],
    ['two bytes for a length of 125', [Buffer.from([0x81, 126, 0, 125])], {}],
    [
      'eight bytes for a length of 65535',
      [Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 0, 255, 255])],
      {},
    ],
    ['a length with its highest bit', [Buffer.from([0x81, 127, 128, 0, 0, 0, 0, 1, 0, 0])], {}],
    ['a fragmented ping', [createFrame(PING, '', { fin: false })], {}],
    ['a ping of 126 bytes', [createFrame(PING, Buffer.alloc(126))], {}],
    ['a close with half a code', [createFrame(CLOSE, [3])], {}],
    ['a continuation of nothing', [createFrame(CONTINUATION, 'x')], {}],
    [
      'a continuation behind the last one',
      [createFrame(TEXT, 'x'), createFrame(CONTINUATION, 'x')],
      {},
    ],
    [
      'a message within another one',
      [createFrame(TEXT, 'x', { fin: false }), createFrame(TEXT, 'x')],
      {},
    ],
  ] as readonly (readonly [string, readonly Buffer[], Options])[]) {
    it(`rejects ${title}, and passes what came before`, () => {
      const before = [createFrame(PONG, 'well'), ...given.slice(0, -1)].map((frame, index) => {
        return index === 0 && options.sender === 'client'
          ? createFrame(PONG, 'well', { mask: MASK })
          : frame;
      });
      const bytes = Buffer.concat([
        ...before,
        given.at(-1) ?? Buffer.alloc(0),
        createFrame(TEXT, 'behind'),
      ]);
      const result = scan(bytes, options);
      expect(result.violation?.code).to.equal(1002);
      expect(result.passed).to.deep.equal(Buffer.concat(before));
      expect(result.isBetweenFrames).to.equal(true);
    });
  }

  it('rejects a frame above the limit at its head, with another code', () => {
    const head = Buffer.from([0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0]);
    expect(scan(head).violation).to.include({ code: 1009 });
    expect(scan(createFrame(TEXT, 'xxx'), { maxFrameBytes: 2 }).violation?.code).to.equal(1009);
    expect(scan(createFrame(TEXT, 'xx'), { maxFrameBytes: 2 }).violation).to.equal(null);
  });

  it('lets extensions use their bits', () => {
    const deflated = createFrame(TEXT, 'x', { rsv: 4 });
    expect(scan(deflated, { reservedBits: 'deflate' }).violation).to.equal(null);
    expect(scan(createFrame(PING, '', { rsv: 7 }), { reservedBits: 'any' }).violation).to.equal(
      null,
    );
  });

  it('reads the code of a close frame, and passes nothing behind it', () => {
    const close = createFrame(CLOSE, [0x0f, 0xa0, 0x68], { mask: MASK });
    const bytes = Buffer.concat([close, createFrame(TEXT, 'behind', { mask: MASK })]);
    expect(scan(bytes, { sender: 'client' })).to.deep.include({ passed: close, closeCode: 4000 });
    expect(scan(createFrame(CLOSE, '')).closeCode).to.equal(1005);
    expect(scan(createCloseFrame(1001, 'server')).closeCode).to.equal(1001);
    expect(scan(createCloseFrame(1012, 'client'), { sender: 'client' }).closeCode).to.equal(1012);
  });

  it('is between frames only where the last one is whole', () => {
    const frame = createFrame(TEXT, 'text');
    expect(scan(frame.subarray(0, 1))).to.deep.include({ isBetweenFrames: true, frames: 0 });
    expect(scan(frame.subarray(0, 3))).to.deep.include({ isBetweenFrames: false, frames: 1 });
    expect(scan(frame)).to.deep.include({ isBetweenFrames: true, frames: 1 });
  });

  it('gives the same result for any bytes in any pieces, and passes nothing but a beginning of them', () => {
    const frame = fc
      .record({
        opcode: fc.integer({ min: 0, max: 15 }),
        length: fc.oneof(fc.nat(130), fc.constantFrom(65_535, 65_536)),
        mask: fc.constantFrom(null, MASK),
        fin: fc.boolean(),
        rsv: fc.constantFrom(0, 0, 0, 4),
      })
      .map(({ opcode, length, ...more }) => createFrame(opcode, Buffer.alloc(length, 'y'), more));
    const good = fc
      .tuple(fc.constantFrom(TEXT, BINARY, PING, PONG), fc.nat(125))
      .map(([opcode, length]) => createFrame(opcode, Buffer.alloc(length, 'z'), { mask: MASK }));
    const noise = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(
        fc.array(fc.oneof(good, good, frame, noise), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 30 }),
        fc.constantFrom('client' as const, 'server' as const),
        (frames, sizes, sender) => {
          const bytes = Buffer.concat(frames);
          const whole = scan(bytes, { sender });
          expect(scan(bytes, { sender }, sizes)).to.deep.equal(whole);
          expect(bytes.subarray(0, whole.passed.length)).to.deep.equal(whole.passed);
        },
      ),
      { numRuns: 300 },
    );
  });
});
