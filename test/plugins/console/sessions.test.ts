import { expect } from 'chai';
import { parseRolesFile } from '../../../core/auth/role-table.js';
import { Roles } from '../../../core/auth/roles.js';
import { SurfaceError, type SurfaceRecord } from '../../../core/contract/index.js';
import type { EndReason } from '../../../plugins/console/sessions/end-reasons.js';
import { Sessions } from '../../../plugins/console/sessions/sessions.js';
import { createRecordedLog } from '../../support/auth/recorded-log.js';
import {
  CALL,
  createActor,
  createFakeContext,
  type FakeContext,
  NO_ISSUERS,
} from '../../support/console/fake-context.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe('sessions of the console', () => {
  let context: FakeContext;
  let sessions: Sessions;

  beforeEach(() => {
    context = createFakeContext();
    context.actors.set('token-of-ann', createActor('ann', 'modgate.modules.read'));
    sessions = new Sessions(context, NO_ISSUERS, () => context.now);
  });

  const begin = async (token = 'token-of-ann') =>
    (await sessions.begin(token, 'token', CALL)) ?? '';
  const isAlive = async (cookie: string) => (await sessions.find(cookie, true, CALL)) !== null;
  /** Behaves like a restart, or like another worker. */
  const createOther = () => new Sessions(context, NO_ISSUERS, () => context.now);

  it('begin for a valid token only', async () => {
    expect(await sessions.begin('another', 'token', CALL)).to.equal(null);
    const session = await sessions.find(await begin(), true, CALL);
    expect(session?.actor.id).to.equal('ann');
  });

  it('store neither the cookie nor the token', async () => {
    const cookie = await begin();
    const text = JSON.stringify([...context.stored]);
    expect(text).to.not.contain(cookie);
    expect(text).to.not.contain('token-of-ann');
    expect(cookie).to.match(/^[A-Za-z0-9_-]{43}$/);
  });

  it('cannot be used with what the store holds', async () => {
    await begin();
    const [record] = [...context.stored.values()];
    const { key = '', value } = record ?? {};
    const { id, token } = value as { id: string; token: string };
    for (const stolen of [key, key.slice('session:'.length), id, token, '']) {
      expect(await isAlive(stolen), stolen).to.equal(false);
    }
  });

  it('are not decrypted with the cookie of another session', async () => {
    const [one, other] = [await begin(), await begin()];
    const [first, second] = [...context.stored.keys()];
    const swapped = context.stored.get(first ?? '')?.value;
    context.stored.set(second ?? '', {
      ...(context.stored.get(second ?? '') as SurfaceRecord),
      value: swapped,
    });
    sessions = createOther();
    expect(await isAlive(one)).to.equal(true);
    expect(await isAlive(other)).to.equal(false);
  });

  it('end after 30 minutes without use', async () => {
    const cookie = await begin();
    context.now += 29 * MINUTE;
    expect(await isAlive(cookie)).to.equal(true);
    context.now += 30 * MINUTE - 1;
    expect(await isAlive(cookie)).to.equal(true);
    context.now += 30 * MINUTE;
    expect(await isAlive(cookie)).to.equal(false);
  });

  it('count a use that came right after the last stored one', async () => {
    const cookie = await begin();
    context.now += 20 * SECOND;
    await isAlive(cookie);
    context.now += 30 * MINUTE - 5 * SECOND;
    expect(await isAlive(cookie)).to.equal(true);
  });

  it('are not prolonged by an open stream', async () => {
    const cookie = await begin();
    for (let minute = 0; minute < 29; minute += 1) {
      context.now += MINUTE;
      expect(await sessions.find(cookie, false, CALL)).to.not.equal(null);
    }
    context.now += MINUTE;
    expect(await sessions.find(cookie, false, CALL)).to.equal(null);
  });

  it('end after 8 hours, however much they are used', async () => {
    const cookie = await begin();
    for (let used = 0; used < 8 * HOUR - 10 * MINUTE; used += 10 * MINUTE) {
      context.now += 10 * MINUTE;
      expect(await isAlive(cookie)).to.equal(true);
    }
    context.now += 10 * MINUTE;
    expect(await isAlive(cookie)).to.equal(false);
  });

  it('end with a signed token', async () => {
    const exp = Math.floor(context.now / SECOND) + 60;
    const payload = Buffer.from(JSON.stringify({ exp })).toString('base64url');
    const token = `e30.${payload}.c2lnbmF0dXJl`;
    context.actors.set(token, createActor('ann'));
    const cookie = await begin(token);
    context.now += 59 * SECOND;
    expect(await isAlive(cookie)).to.equal(true);
    context.now += SECOND;
    expect(await isAlive(cookie)).to.equal(false);
  });

  it('end when the credentials of the actor expire, also when that is known later', async () => {
    const expiresAt = context.now + 60 * SECOND;
    const cookies = [await begin()];
    context.actors.set('token-of-ann', { ...createActor('ann'), expiresAt });
    cookies.push(await begin());
    context.now += 30 * SECOND;
    for (const cookie of cookies) {
      const session = await sessions.find(cookie, true, CALL);
      expect(session?.expiresAt).to.equal(expiresAt);
    }
    context.now = expiresAt - 1;
    for (const cookie of cookies) expect(await isAlive(cookie)).to.equal(true);
    context.asked = 0;
    context.now = expiresAt;
    for (const cookie of cookies) expect(await isAlive(cookie)).to.equal(false);
    expect(context.asked).to.equal(0);
  });

  it('ask the authenticators again every 30 s, and have the new scopes', async () => {
    const cookie = await begin();
    context.asked = 0;
    context.now += 29 * SECOND;
    await isAlive(cookie);
    expect(context.asked).to.equal(0);
    context.actors.set('token-of-ann', createActor('ann', 'modgate.calls.read'));
    context.now += SECOND;
    const session = await sessions.find(cookie, true, CALL);
    expect([...(session?.actor.scopes ?? [])]).to.deep.equal(['modgate.calls.read']);
    expect(context.asked).to.equal(1);
  });

  it('have the scopes of a role that changed within 30 s', async () => {
    const parse = (scope: string) =>
      parseRolesFile('roles.json', JSON.stringify({ roles: { support: { scopes: [scope] } } }));
    const source = { current: parse('modgate.modules.read'), close: async () => {} };
    const roles = new Roles(source, createRecordedLog().log);
    const actor = { ...createActor('ann'), roles: ['support'] };
    context.actors.get = () => roles.resolve(actor, 'tokens');
    const cookie = await begin();
    const listScopes = async () => [
      ...((await sessions.find(cookie, true, CALL))?.actor.scopes ?? []),
    ];
    expect(await listScopes()).to.deep.equal(['modgate.modules.read']);
    source.current = parse('modgate.calls.read');
    context.now += 30 * SECOND;
    expect(await listScopes()).to.deep.equal(['modgate.calls.read']);
  });

  it('end when the token is withdrawn, or belongs to another actor', async () => {
    for (const actor of [null, createActor('bob')]) {
      context.actors.set('token-of-ann', createActor('ann'));
      const cookie = await begin();
      if (actor === null) context.actors.delete('token-of-ann');
      else context.actors.set('token-of-ann', actor);
      context.now += 30 * SECOND;
      expect(await isAlive(cookie)).to.equal(false);
    }
    expect(context.stored.size).to.equal(0);
  });

  it('go on for 10 minutes while no authenticator answers', async () => {
    const cookie = await begin();
    context.isAnswering = false;
    context.now += 9 * MINUTE;
    expect(await isAlive(cookie)).to.equal(true);
    context.asked = 0;
    expect(await isAlive(cookie)).to.equal(true);
    expect(context.asked).to.equal(0);
    context.now += MINUTE;
    expect(await isAlive(cookie)).to.equal(false);
    context.isAnswering = true;
    expect(await isAlive(cookie)).to.equal(false);
  });

  describe('when the clock is set back', () => {
    let cookie: string;

    beforeEach(async () => {
      cookie = await begin();
      context.now -= 2 * HOUR;
    });

    it('ask the authenticators again at once', async () => {
      context.actors.delete('token-of-ann');
      expect(await isAlive(cookie)).to.equal(false);
    });

    it('end after 30 minutes without use', async () => {
      await sessions.find(cookie, false, CALL);
      context.now += 30 * MINUTE;
      expect(await isAlive(cookie)).to.equal(false);
    });

    it('go on for 10 minutes while no authenticator answers', async () => {
      context.isAnswering = false;
      expect(await isAlive(cookie)).to.equal(true);
      context.now += 10 * MINUTE;
      expect(await isAlive(cookie)).to.equal(false);
    });

    it('end after 8 hours', async () => {
      for (let minutes = 0; minutes < 8 * 60; minutes += 20) {
        expect(await isAlive(cookie)).to.equal(true);
        context.now += 20 * MINUTE;
      }
      expect(await isAlive(cookie)).to.equal(false);
    });
  });

  it('survive a restart, with the rights of now', async () => {
    const cookie = await begin();
    context.actors.set('token-of-ann', createActor('ann', 'other'));
    const session = await createOther().find(cookie, true, CALL);
    expect([...(session?.actor.scopes ?? [])]).to.deep.equal(['other']);
  });

  it('are unavailable after a restart until an authenticator answers', async () => {
    const cookie = await begin();
    context.isAnswering = false;
    const failure = await createOther()
      .find(cookie, true, CALL)
      .catch((error) => error);
    expect(failure).to.be.instanceOf(SurfaceError).and.to.include({ code: 'unavailable' });
  });

  it('are at most 20 for each actor: the oldest ends', async () => {
    context.actors.set('token-of-bob', createActor('bob'));
    const bob = await begin('token-of-bob');
    const cookies: string[] = [];
    for (let count = 0; count < 21; count += 1) {
      context.now += 1;
      cookies.push(await begin());
    }
    const alive = await Promise.all(cookies.map(isAlive));
    expect(alive).to.deep.equal([false, ...Array(20).fill(true)]);
    expect(await isAlive(bob)).to.equal(true);
    expect(await sessions.list()).to.have.length(21);
  });

  it('are at most 20 also when many begin at once, in several processes', async () => {
    for (let count = 0; count < 15; count += 1) await begin();
    const other = createOther();
    const burst = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? sessions : other).begin('token-of-ann', 'token', CALL),
    );
    await Promise.all(burst);
    expect((await sessions.list()).length).to.be.within(19, 20);
  });

  it('begin where the store has no room: the own oldest ends, otherwise the least used', async () => {
    context.actors.set('token-of-bob', createActor('bob'));
    context.maxRecords = 3;
    const cookies = [await begin(), await begin('token-of-bob'), await begin('token-of-bob')];
    context.now += SECOND;
    const session = await begin('token-of-bob');
    const alive = async () => Promise.all([...cookies, session].map(isAlive));
    expect(await alive()).to.deep.equal([true, false, true, true]);
    context.actors.set('token-of-cleo', createActor('cleo'));
    expect(await isAlive(await begin('token-of-cleo'))).to.equal(true);
  });

  it('begin also among 20 from before the clock was set back', async () => {
    for (let count = 0; count < 20; count += 1) await begin();
    context.now -= HOUR;
    expect(await isAlive(await begin())).to.equal(true);
    expect(await sessions.list()).to.have.length(20);
  });

  it('announce their end, also one in another process', async () => {
    const ends: EndReason[] = [];
    const first = await begin();
    const session = await sessions.find(first, true, CALL);
    sessions.onEnd(session?.key ?? '', (reason) => ends.push(reason));
    await sessions.end(session?.key ?? '', 'signed_out');
    expect(ends).to.deep.equal(['signed_out']);
    const second = await begin();
    const other = await sessions.find(second, true, CALL);
    sessions.onEnd(other?.key ?? '', (reason) => ends.push(reason));
    await createOther().end(other?.key ?? '', 'revoked');
    expect(await isAlive(second)).to.equal(false);
    expect(ends).to.deep.equal(['signed_out', 'revoked']);
  });

  it('are not restored when they end during a request', async () => {
    const cookie = await begin();
    const session = await sessions.find(cookie, true, CALL);
    context.now += 30 * SECOND;
    const { authenticate } = context;
    const slow = new Sessions(
      {
        records: context.records,
        host: context.host,
        authenticate: async (credentials) => {
          await sessions.end(session?.key ?? '', 'revoked');
          return authenticate(credentials);
        },
      },
      NO_ISSUERS,
      () => context.now,
    );
    expect(await slow.find(cookie, true, CALL)).to.equal(null);
    expect(context.stored.size).to.equal(0);
  });
});
