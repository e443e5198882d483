import { once } from 'node:events';
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
const MAX_DISCARDED_BYTES = 16_777_216;
const TURNS = 200;
const LONG_MS = 60_000;
const STALL_MS = 1000;
const PARTS = 12;
const GOING_AWAY = 1001;

/** Sends what a test pushes, and takes a part of what it gets only after a while. */
class Slow extends Duplex {
  taken = 0;
  readonly #parts: number;

  /** @param parts how many it takes at all */
  constructor(parts: number) {
    super();
    this.#parts = parts;
  }

  async untilTaken(parts: number): Promise<void> {
    while (this.taken < parts) await once(this, 'taken');
  }

  override _read(): void {}

  override _write(_chunk: Buffer, _encoding: string, onTaken: () => void): void {
    this.emit('written');
    if (this.taken === this.#parts) return;
    setTimeout(() => {
      this.taken += 1;
      onTaken();
      this.emit('taken');
    }, STALL_MS / 4);
  }
}

/** Sends frames for as long as it is asked, and takes nothing. */
class Flood extends Duplex {
  sent = 0;
  readonly #chunk: Buffer;

  readonly #maxBytes: number;

  constructor(mask: Buffer | null, maxBytes = 16 * MAX_HELD_BYTES) {
    super();
    this.#maxBytes = maxBytes;
    this.#chunk = createFrame(BINARY, Buffer.alloc(CHUNK_BYTES - 8), { mask });
  }

  override _read(): void {
    if (this.sent > this.#maxBytes) return;
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
      ...{ idleMs: LONG_MS, stallMs: LONG_MS, maxMs: LONG_MS, unitsPerSecond: 100_000, held: null },
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

  it('reads a bounded number of bytes from an end that keeps sending after the close', async () => {
    const caller = new Flood(Buffer.from([1, 2, 3, 4]), 4 * MAX_DISCARDED_BYTES);
    const tunnel = new Tunnel({
      ...{ caller, provider: new Flood(null, 0), maxFrameBytes: CHUNK_BYTES, reservedBits: 'none' },
      ...{ idleMs: LONG_MS, stallMs: LONG_MS, maxMs: LONG_MS, unitsPerSecond: 100_000, held: null },
      onEnd: () => {},
    });
    tunnel.close(GOING_AWAY);
    await once(caller, 'close');
    expect(caller.sent).to.be.within(MAX_DISCARDED_BYTES, MAX_DISCARDED_BYTES + 4 * CHUNK_BYTES);
  });

  it('closes when an end reads none of its waiting bytes, but not while it reads some', async () => {
    const caller = new Slow(PARTS);
    const provider = new Slow(0);
    const ended = openSlow(caller, provider);
    // The only frame that it gets is the close frame of the host.
    const closing = once(provider, 'written').then(() => caller.taken);
    const startedAt = performance.now();
    for (let count = 0; count <= PARTS; count += 1) provider.push(createFrame(BINARY, [count]));
    const { closedBy, code } = await ended;
    expect({ closedBy, code }).to.deep.equal({ closedBy: 'host', code: GOING_AWAY });
    expect(await closing).to.equal(PARTS);
    expect(performance.now() - startedAt).to.be.above((PARTS * STALL_MS) / 4);
  });

  it('counts the wait from the first byte that waits, not from the one before', async () => {
    const caller = new Slow(PARTS);
    const provider = new Slow(PARTS);
    const ended = openSlow(caller, provider);
    for (let parts = 1; parts <= 3; parts += 1) {
      provider.push(createFrame(BINARY, [parts]));
      await caller.untilTaken(parts);
      // The next part waits when the time since this one has passed.
      await new Promise((resolve) => setTimeout(resolve, (7 * STALL_MS) / 8));
    }
    expect(provider.taken).to.equal(0);
    caller.destroy();
    provider.destroy();
    expect((await ended).closedBy).to.equal('caller');
  });
});

/** Opens a tunnel whose ends may take their time. */
function openSlow(caller: Duplex, provider: Duplex): Promise<TunnelEnd> {
  return new Promise((resolve) => {
    new Tunnel({
      ...{ caller, provider, maxFrameBytes: CHUNK_BYTES, reservedBits: 'none' },
      ...{ idleMs: LONG_MS, stallMs: STALL_MS, maxMs: LONG_MS, unitsPerSecond: 100_000 },
      ...{ held: null, onEnd: resolve },
    });
  });
}
