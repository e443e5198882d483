import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { Sessions } from '../../../plugins/console/sessions/sessions.js';
import type { IssuedTokens } from '../../../plugins/console/sessions/token-renewal.js';
import {
  CALL,
  createActor,
  createFakeContext,
  type FakeContext,
} from '../../support/console/fake-context.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const ISSUER = 'https://login.example';
const LIFETIME = 5 * MINUTE;

/** An issuer that rotates refresh tokens. */
class FakeIssuer {
  outcome: 'renew' | 'reject' | 'fail' = 'renew';
  actor = 'ann';
  readonly used: string[] = [];
  readonly revoked: string[] = [];
  /** Runs while a token is renewed. */
  meanwhile = async (): Promise<void> => {};
  readonly #context: FakeContext;

  constructor(context: FakeContext) {
    this.#context = context;
  }

  issue(): IssuedTokens & { refreshToken: string; issuer: string } {
    const accessToken = `access-${this.used.length}`;
    this.#context.actors.set(accessToken, createActor(this.actor));
    const expiresAt = this.#context.now + LIFETIME;
    return { accessToken, refreshToken: `refresh-${this.used.length}`, expiresAt, issuer: ISSUER };
  }

  async renew(issuer: string, refreshToken: string): Promise<IssuedTokens | null> {
    expect(issuer).to.equal(ISSUER);
    this.used.push(refreshToken);
    await this.meanwhile();
    if (this.outcome === 'fail') throw new Error('no answer');
    this.#context.actors.clear();
    return this.outcome === 'reject' ? null : this.issue();
  }

  async revoke(_issuer: string, refreshToken: string): Promise<void> {
    this.revoked.push(refreshToken);
  }
}

describe('the token of a session', () => {
  let context: FakeContext;
  let issuer: FakeIssuer;
  let processes: Sessions[];
  let cookie: string;

  beforeEach(async () => {
    context = createFakeContext();
    issuer = new FakeIssuer(context);
    processes = [0, 1, 2].map(() => new Sessions(context, issuer, () => context.now));
    const tokens = issuer.issue();
    cookie = (await processes[0]?.begin(tokens.accessToken, 'oidc', CALL, tokens)) ?? '';
  });

  const find = async (number = 0) => processes[number]?.find(cookie, true, CALL);
  const isAlive = async (number = 0) => (await find(number)) !== null;
  const expire = () => {
    context.actors.clear();
    context.now += LIFETIME;
  };

  it('is renewed 30 s before it expires, with the newest refresh token', async () => {
    context.now += LIFETIME - 31 * SECOND;
    expect(await isAlive()).to.equal(true);
    expect(issuer.used).to.deep.equal([]);
    context.now += SECOND;
    expect(await isAlive()).to.equal(true);
    expect(issuer.used).to.deep.equal(['refresh-0']);
    context.now += LIFETIME - 30 * SECOND;
    expect(await isAlive()).to.equal(true);
    expect(issuer.used).to.deep.equal(['refresh-0', 'refresh-1']);
    expect((await find())?.actor.id).to.equal('ann');
  });

  it('is renewed for an open stream too, and after it has expired', async () => {
    expire();
    expect(await processes[0]?.find(cookie, false, CALL)).to.not.equal(null);
    expect(issuer.used).to.deep.equal(['refresh-0']);
  });

  it('does not extend the session beyond 8 hours, or 30 minutes without use', async () => {
    for (let minutes = 0; minutes < 8 * 60; minutes += 20) {
      expect(await isAlive(), String(minutes)).to.equal(true);
      context.now += 20 * MINUTE;
    }
    expect(await isAlive()).to.equal(false);
    const tokens = issuer.issue();
    cookie = (await processes[0]?.begin(tokens.accessToken, 'oidc', CALL, tokens)) ?? '';
    context.now += 30 * MINUTE;
    expect(await isAlive()).to.equal(false);
  });

  it('is renewed by one request of one process', async () => {
    expire();
    const found = await Promise.all([0, 1, 0, 1, 1].map(isAlive));
    expect(found).to.deep.equal([true, true, true, true, true]);
    expect(issuer.used).to.deep.equal(['refresh-0']);
  });

  it('is renewed by another process if one ends meanwhile', async () => {
    expire();
    issuer.meanwhile = () => new Promise(() => {});
    void find().catch(() => {});
    while (issuer.used.length === 0) await new Promise(setImmediate);
    issuer.meanwhile = async () => {};
    context.now += 21 * SECOND;
    expect(await isAlive(1)).to.equal(true);
    expect(issuer.used).to.deep.equal(['refresh-0', 'refresh-0']);
  });

  it('is awaited for 5 s, in the process that renews it and in others', async () => {
    const reads: number[] = [];
    const { records } = context;
    const counted = {
      ...records,
      get: (key: string) => {
        reads.push(performance.now());
        return records.get(key);
      },
    };
    processes = [0, 1].map(
      () => new Sessions({ ...context, records: counted }, issuer, () => context.now),
    );
    expire();
    issuer.meanwhile = () => new Promise(() => {});
    const startedAt = performance.now();
    const failures = await Promise.all(
      [0, 1].map((number) => find(number).catch((error) => error)),
    );
    expect(performance.now() - startedAt).to.be.at.least(4900);
    for (const failure of failures) expect(failure).to.include({ code: 'unavailable' });
    const count = reads.length;
    await wait(500);
    expect(reads).to.have.length(count);
  });

  it('is stored neither in clear nor with its refresh token', async () => {
    expire();
    await find();
    const text = JSON.stringify([...context.stored]);
    for (const secret of ['access-', 'refresh-', cookie]) expect(text).to.not.contain(secret);
  });

  it('ends the session when the issuer rejects the refresh token', async () => {
    issuer.outcome = 'reject';
    context.now += LIFETIME - 30 * SECOND;
    expect(await isAlive()).to.equal(false);
    expect(context.stored.size).to.equal(0);
  });

  it('is used while the issuer does not answer, and 10 minutes longer', async () => {
    issuer.outcome = 'fail';
    context.now += LIFETIME - 30 * SECOND;
    expect(await isAlive()).to.equal(true);
    expire();
    expect(await isAlive()).to.equal(true);
    const asked = issuer.used.length;
    expect(await isAlive()).to.equal(true);
    expect(issuer.used.length).to.equal(asked);
    issuer.outcome = 'renew';
    context.now += 30 * SECOND;
    expect(await isAlive()).to.equal(true);
    issuer.outcome = 'fail';
    expire();
    context.now += 10 * MINUTE;
    expect(await isAlive()).to.equal(false);
  });

  it('makes the session unavailable in a process that does not know its rights', async () => {
    issuer.outcome = 'fail';
    context.now += LIFETIME - 30 * SECOND;
    expect(await isAlive(2)).to.equal(true);
    expire();
    const failure = await find(1).catch((error) => error);
    expect(failure).to.include({ code: 'unavailable' });
    expect(await isAlive(0)).to.equal(true);
  });

  it('is renewed when the authenticators reject it earlier', async () => {
    context.actors.clear();
    context.now += 30 * SECOND;
    expect(await isAlive()).to.equal(true);
    expect(issuer.used).to.deep.equal(['refresh-0']);
    issuer.outcome = 'reject';
    context.actors.clear();
    context.now += 30 * SECOND;
    expect(await isAlive()).to.equal(false);
  });

  it('ends the session when the new one belongs to another actor', async () => {
    issuer.actor = 'bob';
    expire();
    expect(await isAlive()).to.equal(false);
  });

  it('is revoked with its newest refresh token at sign-out', async () => {
    expire();
    await find();
    await processes[1]?.signOut(cookie);
    expect(issuer.revoked).to.deep.equal(['refresh-1']);
    expect(await isAlive()).to.equal(false);
  });

  it('does not restore a session that ends during the renewal', async () => {
    expire();
    issuer.meanwhile = async () => {
      for (const { key } of (await processes[1]?.list()) ?? []) {
        await processes[1]?.end(key, 'revoked');
      }
    };
    expect(await isAlive()).to.equal(false);
    expect(context.stored.size).to.equal(0);
    // The sign-out could only revoke the token before it.
    expect(issuer.revoked).to.include('refresh-1');
  });
});
