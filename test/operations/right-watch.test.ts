import { expect } from 'chai';
import { RightWatch, type Standing } from '../../core/operations/right-watch.js';
import { waitUntil } from '../support/http/wait-until.js';

const MINUTE_MS = 60_000;

describe('RightWatch', () => {
  let now = 0;
  let standing: Standing | Error = 'held';
  let lost = 0;
  const add = (members: { endsWithCredential?: boolean; expiresAt?: number } = {}) => {
    now = 1_000_000;
    standing = 'held';
    lost = 0;
    const watch = new RightWatch(
      () => now,
      () => now,
    );
    const stop = watch.add({
      expiresAt: members.expiresAt,
      endsWithCredential: members.endsWithCredential ?? false,
      verify: async () => {
        if (standing instanceof Error) throw standing;
        return standing;
      },
      onLost: () => {
        lost += 1;
      },
    });
    const after = async (minutes: number, next: Standing | Error) => {
      now += minutes * MINUTE_MS;
      standing = next;
      await watch.checkAll();
      return lost;
    };
    return { after, stop };
  };

  it('ends what runs under a withdrawn right, once', async () => {
    const { after } = add();
    expect(await after(600, 'held')).to.equal(0);
    expect(await after(0.5, 'withdrawn')).to.equal(1);
    expect(await after(0.5, 'withdrawn')).to.equal(1);
  });

  it('ends a body an hour after its credential has expired', async () => {
    const { after } = add({ expiresAt: 1_000_000 + 5 * MINUTE_MS });
    expect(await after(5, 'expired')).to.equal(0);
    expect(await after(59, 'expired')).to.equal(0);
    expect(await after(1, 'expired')).to.equal(1);
  });

  it('ends a body an hour after its credential was first called expired', async () => {
    const { after } = add();
    expect(await after(100, 'expired')).to.equal(0);
    expect(await after(59, 'expired')).to.equal(0);
    expect(await after(1, 'expired')).to.equal(1);
  });

  it('ends a body whose credential is withdrawn after it has expired', async () => {
    const { after } = add({ expiresAt: 1_000_000 });
    expect(await after(1, 'expired')).to.equal(0);
    expect(await after(1, 'withdrawn')).to.equal(1);
  });

  it('ends events when their credential has expired', async () => {
    const { after } = add({ endsWithCredential: true });
    expect(await after(1, 'expired')).to.equal(1);
  });

  it('ends everything after 10 minutes without an answer of the authenticators', async () => {
    const failure = new Error('no answer');
    const { after } = add();
    expect(await after(9, failure)).to.equal(0);
    expect(await after(0.5, 'held')).to.equal(0);
    expect(await after(9.5, failure)).to.equal(0);
    expect(await after(0.5, failure)).to.equal(1);
  });

  it('checks a right in time after the clock was set back', async () => {
    let wall = 10 * MINUTE_MS;
    const watch = new RightWatch(undefined, () => wall);
    let lost = 0;
    watch.add({
      expiresAt: wall + 100,
      endsWithCredential: true,
      verify: async () => 'expired',
      onLost: () => {
        lost += 1;
      },
    });
    wall -= 5 * MINUTE_MS;
    await waitUntil('the end of the right', () => lost === 1);
  });

  it('ends nothing that has ended before', async () => {
    const { after, stop } = add();
    stop();
    expect(await after(1, 'withdrawn')).to.equal(0);
  });
});
