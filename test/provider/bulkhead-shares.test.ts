import { expect } from 'chai';
import fc from 'fast-check';
import { QueueFull } from '../../core/contract/semaphore.js';
import { createAnonymous, nameShare } from '../../core/lib/actor-name.js';
import { Bulkhead } from '../../core/provider/bulkhead.js';

const NEVER = new AbortController().signal;
const A = 'service:a';
const B = 'service:b';
const address = (text: string) => nameShare(createAnonymous(text));
const ADDRESSES = Array.from({ length: 300 }, (_, index) =>
  address(`198.51.${index >> 8}.${index & 255}`),
);

/** The places that callers without credentials may take together, for each number of places. */
const OPEN = [0, 1, 1, 2, 3, 4, 5, 6, 6];

describe('places of actors', () => {
  let now = 0;
  const create = (places: number, { queue = 0, keepsPlaces = true } = {}) =>
    new Bulkhead(places, queue, { keepsPlaces, now: () => now });
  const fill = (bulkhead: Bulkhead, actor: string) => {
    let count = 0;
    while (bulkhead.enter(actor)) count += 1;
    return count;
  };

  beforeEach(() => {
    now = 1000;
  });

  it('are all for an actor that calls alone', () => {
    for (const places of [1, 2, 3, 4, 5, 8, 256]) {
      expect(fill(create(places), A)).to.equal(places);
      expect(fill(create(places, { keepsPlaces: false }), ADDRESSES[0] ?? '')).to.equal(places);
    }
  });

  it('are left to a quarter by an actor while another one calls', () => {
    for (const [places, left] of [
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 1],
      [7, 1],
      [8, 2],
      [256, 64],
    ] as const) {
      const bulkhead = create(places);
      expect(bulkhead.enter(B)).to.equal(true);
      bulkhead.release(B);
      expect(fill(bulkhead, A), `${places}`).to.equal(places - left);
      expect(fill(bulkhead, B)).to.equal(left);
      expect(bulkhead.running).to.equal(places);
    }
  });

  it('are all for an actor again, 60 s after the last call of another one', () => {
    const bulkhead = create(8);
    bulkhead.enter(B);
    bulkhead.release(B);
    expect(fill(bulkhead, A)).to.equal(6);
    now += 59_999;
    expect(bulkhead.enter(A)).to.equal(false);
    now += 1;
    expect(fill(bulkhead, A)).to.equal(2);
  });

  it('count the calls of another actor that got none', () => {
    const bulkhead = create(8);
    expect(fill(bulkhead, A)).to.equal(8);
    expect(bulkhead.enter(B)).to.equal(false);
    for (const _ of '123') bulkhead.release(A);
    expect(bulkhead.enter(A)).to.equal(true);
    expect(bulkhead.enter(A)).to.equal(false);
    expect(bulkhead.enter(B)).to.equal(true);
  });

  it('are left to a quarter by all callers without credentials', () => {
    for (const [places, open] of OPEN.entries()) {
      if (places === 0) continue;
      const bulkhead = create(places);
      const taken = ADDRESSES.filter((actor) => bulkhead.enter(actor)).length;
      expect(taken, `${places}`).to.equal(open);
      expect(bulkhead.enter(A), `${places}`).to.equal(places > 1);
    }
    const alone = create(256);
    expect(fill(alone, ADDRESSES[0] ?? '')).to.equal(192);
    expect(fill(alone, A)).to.equal(64);
  });

  it('are all for callers without credentials where no route needs some', () => {
    const bulkhead = create(8, { keepsPlaces: false });
    expect(ADDRESSES.filter((actor) => bulkhead.enter(actor))).to.have.length(8);
  });

  it('are one share for an IPv6 network of 64 bits', () => {
    const bulkhead = create(8);
    bulkhead.enter(B);
    bulkhead.release(B);
    const network = [1, 2, 3, 4, 5, 6, 7, 8].map((host) => address(`2001:db8:1:2::${host}`));
    expect(network.filter((actor) => bulkhead.enter(actor))).to.have.length(6);
    expect(bulkhead.enter(address('2001:db8:1:3::1'))).to.equal(false);
    bulkhead.release(network[0]);
    expect(bulkhead.enter(address('2001:db8:1:3::1'))).to.equal(true);
  });

  it('go to the next waiting call that may have one', async () => {
    const bulkhead = create(4, { queue: 8 });
    for (const actor of ADDRESSES.slice(0, 3)) expect(bulkhead.enter(actor)).to.equal(true);
    expect(bulkhead.enter(A)).to.equal(true);
    const started: string[] = [];
    const wait = (actor: string) => {
      expect(bulkhead.enter(actor)).to.equal(false);
      void bulkhead.acquire({ signal: NEVER, share: actor }).then(() => started.push(actor));
    };
    const [waiting = '', other = ''] = ADDRESSES.slice(5);
    for (const actor of [waiting, other, B]) wait(actor);
    bulkhead.release(A);
    await turn();
    expect(started).to.deep.equal([B]);
    bulkhead.release(ADDRESSES[0]);
    await turn();
    expect(started).to.deep.equal([B, waiting]);
    bulkhead.release(B);
    await turn();
    expect(started).to.deep.equal([B, waiting]);
    expect(bulkhead.enter(A)).to.equal(true);
    bulkhead.release(waiting);
    await turn();
    expect(started).to.deep.equal([B, waiting, other]);
    expect(bulkhead.waiting).to.equal(0);
  });

  it('are waited for by an actor with credentials also where others fill the queue', async () => {
    const bulkhead = create(1, { queue: 3 });
    bulkhead.enter(B);
    const wait = (share: string) =>
      bulkhead.acquire({ signal: NEVER, share }).catch((error) => error);
    const waiting = ADDRESSES.slice(0, 3).map(wait);
    expect(await wait(ADDRESSES[3] ?? '')).to.be.instanceOf(QueueFull);
    const first = wait(A);
    expect(await waiting[0]).to.be.instanceOf(QueueFull);
    expect(await wait(A)).to.be.instanceOf(QueueFull);
    bulkhead.release(B);
    await waiting[1];
    bulkhead.release(ADDRESSES[1]);
    await waiting[2];
    bulkhead.release(ADDRESSES[2]);
    expect(await first).to.equal(undefined);
  });

  it('are never lost, and never more than there are', () => {
    const actor = fc.constantFrom(A, B, ...ADDRESSES.slice(0, 4));
    const step = fc.record({ actor, isRelease: fc.boolean(), ms: fc.nat(40_000) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(step), (places, steps) => {
        const bulkhead = create(places);
        const held: string[] = [];
        for (const { actor: caller, isRelease, ms } of steps) {
          now += ms;
          const index = held.indexOf(caller);
          if (isRelease && index !== -1) bulkhead.release(held.splice(index, 1)[0]);
          else if (!isRelease && bulkhead.enter(caller)) held.push(caller);
          expect(bulkhead.running).to.equal(held.length).and.to.be.at.most(places);
          const open = held.filter((name) => name.startsWith('anonymous'));
          expect(open.length).to.be.at.most(OPEN[places] ?? 7);
        }
        for (const caller of held) bulkhead.release(caller);
        expect(fill(bulkhead, 'service:new')).to.be.at.least(Math.min(places, 1));
      }),
    );
  });
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
