import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { ACTOR_KINDS, type Actor, type Credentials } from '../../contract/index.js';
import type { AuthenticatorHarness } from '../authenticator-harness.js';
import type { Clause } from '../clause.js';
import { countHandles } from '../wait.js';

const NAME = /^[a-z][a-z0-9-]*$/;
/** The syntax of actor ids in the host. */
const ACTOR_ID = /^[A-Za-z0-9._@-]{1,128}$/;
const SCOPE = /^[!-+\--~]+$/;

const CONCURRENT_CALLS = 20;
const INSPECT_DEPTH = 8;

/** The limit of all headers together (16 KiB). */
const MAX_TOKEN_LENGTH = 16_384;

/** Invalid in every token format. Each of them has broken an authenticator before. */
const GARBAGE = [
  '',
  ' ',
  'a'.repeat(MAX_TOKEN_LENGTH),
  '.'.repeat(MAX_TOKEN_LENGTH),
  '\u0000',
  '\u00ff\u00fe',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  '{}',
  '[]',
  '"',
  '..',
  'a.b.c',
  'eyJhbGciOiJub25lIn0.e30.',
  '%00',
  ':',
  "' or 1=1 --",
];

export const AUTHENTICATION: readonly Clause<AuthenticatorHarness>[] = [
  {
    id: 'authenticator.name',
    title: 'has a printable name',
    run: async ({ running }) => {
      assert.match(running.authenticator.name, NAME, `name must match ${NAME}`);
    },
  },
  {
    id: 'authenticator.good',
    title: 'returns the actor of valid credentials with exactly its scopes, each time',
    run: async (harness) => {
      for (const { credentials, actor } of [...harness.running.good, ...harness.running.good]) {
        const found = await harness.authenticate('valid credentials', credentials);
        assert.ok(found !== null, 'valid credentials must return an actor');
        assert.deepEqual(describe(found), { ...actor, scopes: actor.scopes.toSorted() });
      }
    },
  },
  {
    id: 'authenticator.actor',
    title: 'returns actors with a valid kind, id and scopes',
    run: async (harness) => {
      for (const { credentials } of harness.running.good) {
        const actor = await harness.authenticate('valid credentials', credentials);
        assert.ok(actor !== null, 'valid credentials must return an actor');
        assert.ok(ACTOR_KINDS.includes(actor.kind), `kind must be one of ${ACTOR_KINDS}`);
        assert.match(actor.id, ACTOR_ID, `id must match ${ACTOR_ID}`);
        assert.ok(actor.scopes instanceof Set, 'scopes must be a Set');
        for (const scope of actor.scopes) {
          assert.match(scope, SCOPE, 'a scope must be visible ASCII without a comma');
        }
      }
    },
  },
  {
    id: 'authenticator.bad',
    title: 'returns null, and does not throw, for invalid credentials',
    skip: ({ running }) =>
      running.bad.length === 0 ? 'the subject has no invalid credentials' : null,
    run: async (harness) => {
      for (const [index, credentials] of harness.running.bad.entries()) {
        const actor = await harness.authenticate(`invalid credentials ${index}`, credentials);
        assert.equal(actor, null, `invalid credentials ${index} must return null`);
      }
    },
  },
  {
    id: 'authenticator.garbage',
    title: 'returns null, and does not throw, for malformed tokens',
    run: async (harness) => {
      const [{ credentials }] = harness.running.good;
      for (const [index, token] of GARBAGE.entries()) {
        const actor = await harness.authenticate(`garbage ${index}`, { ...credentials, token });
        assert.equal(actor, null, `garbage ${index} must return null`);
      }
    },
  },
  {
    id: 'authenticator.near-miss',
    title: 'does not accept a token that is nearly the same',
    run: async (harness) => {
      for (const { credentials, actor } of harness.running.good) {
        const { token } = credentials;
        const near = [token.slice(0, -2), token.slice(1), `${token}x`, `x${token}`, `${token} `];
        for (const [index, changed] of near.entries()) {
          const found = await harness.authenticate(`near miss ${index}`, {
            ...credentials,
            token: changed,
          });
          if (found === null) continue;
          const expected = { ...actor, scopes: actor.scopes.toSorted() };
          assert.notDeepEqual(describe(found), expected, `near miss ${index} must not be accepted`);
        }
      }
    },
  },
  {
    id: 'authenticator.scheme',
    title: 'returns null for its tokens under another scheme',
    run: async (harness) => {
      const own = new Set(harness.running.good.map(({ credentials }) => credentials.scheme));
      for (const { credentials } of harness.running.good) {
        for (const scheme of ['', 'basic', 'bearer', 'digest', 'negotiate']) {
          if (own.has(scheme)) continue;
          const actor = await harness.authenticate(`scheme '${scheme}'`, {
            ...credentials,
            scheme,
          });
          assert.equal(actor, null, `a token with the scheme '${scheme}' must not be accepted`);
        }
      }
    },
  },
  {
    id: 'authenticator.apart',
    title: `keeps ${CONCURRENT_CALLS} concurrent calls apart`,
    run: async (harness) => {
      const [{ credentials: first }] = harness.running.good;
      const bad = { ...first, token: `${first.token.slice(0, 1)}-no-such-token` };
      const calls = Array.from({ length: CONCURRENT_CALLS }, (_, index) => {
        const good = harness.running.good[index % (harness.running.good.length + 1)];
        const credentials: Credentials = good?.credentials ?? bad;
        return { credentials, id: good?.actor.id ?? null };
      });
      const actors = await Promise.all(
        calls.map(({ credentials }) => harness.authenticate('credentials', credentials)),
      );
      assert.deepEqual(
        actors.map((actor) => actor?.id ?? null),
        calls.map(({ id }) => id),
      );
    },
  },
  {
    id: 'authenticator.no-secrets',
    title: 'does not reveal tokens when it is inspected',
    run: async (harness) => {
      const { authenticator, good, bad } = harness.running;
      const presented = [...good.map(({ credentials }) => credentials), ...bad];
      for (const credentials of presented) await harness.authenticate('credentials', credentials);
      const text = inspect(authenticator, { depth: INSPECT_DEPTH, maxStringLength: null });
      for (const { token } of presented) assert.ok(!text.includes(token), 'a token is revealed');
    },
  },
  {
    id: 'authenticator.handles',
    title: 'keeps no timer, socket or other handle after its stop',
    run: async (harness) => {
      const { handlesBefore } = harness;
      const [{ credentials }] = harness.running.good;
      await harness.authenticate('valid credentials', credentials);
      await harness.stop();
      await harness.wait.eventually(
        `a return to ${handlesBefore} active handles`,
        () => countHandles() <= handlesBefore,
      );
    },
  },
];

function describe({ kind, id, scopes }: Actor): object {
  return { kind, id, scopes: [...scopes].toSorted() };
}
