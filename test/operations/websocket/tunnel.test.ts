import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { Tunnel, type TunnelEnd } from '../../../core/operations/websocket/tunnel.js';
import { createFrame } from '../../support/http/use-websockets.js';

const BINARY = 0x2;
/** The number of bytes that a connection reads at a time. */
const CHUNK_BYTES = 65_536;
/** docs/reference/bounds.md. */
const MAX_HELD_BYTES = 4 * CHUNK_BYTES;
const TURNS = 200;
const LONG_MS = 60_000;

/** Sends frames for as long as it is asked, and takes nothing. */
class Flood extends Duplex {
  sent = 0;
  readonly #chunk: Buffer;

  constructor(mask: Buffer | null) {
    super();
    this.#chunk = createFrame(BINARY, Buffer.alloc(CHUNK_BYTES - 8), { mask });
  }

  override _read(): void {
    if (this.sent > 16 * MAX_HELD_BYTES) return;
    this.sent += this.#chunk.length;
    this.push(this.#chunk);
  }

  override _write(): void {}
}

describe('a tunnel of frames', () => {
  it('holds 256 KiB of each end at most where neither reads', async () => {
    const caller = new Flood(Buffer.from([1, 2, 3, 4]));
    const provider = new Flood(null);
    let end: TunnelEnd | undefined;
    new Tunnel({
      ...{ caller, provider, maxFrameBytes: CHUNK_BYTES, reservedBits: 'none' },
      ...{ idleMs: LONG_MS, maxMs: LONG_MS },
      onEnd: (ended) => {
        end = ended;
      },
    });
    for (let count = 0; count < TURNS; count += 1) await turn();
    for (const { sent } of [caller, provider]) {
      expect(sent).to.be.within(CHUNK_BYTES, MAX_HELD_BYTES);
    }
    caller.destroy();
    provider.destroy();
    for (let count = 0; count < TURNS && end === undefined; count += 1) await turn();
    expect(end?.closedBy).to.be.oneOf(['caller', 'provider']);
  });
});
