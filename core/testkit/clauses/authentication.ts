import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { ACTOR_KINDS, type Actor, type Credentials } from '../../contract/index.js';
import type { AuthenticatorHarness } from '../authenticator-harness.js';
import type { Clause } from '../clause.js';
import { countHandles } from '../wait.js';

const NAME = /^[a-z][a-z0-9-]*$/;
/** Contract 3. */
const ACTOR_ID = /^[A-Za-z0-9._@-]{1,128}$/;
const SCOPE = /^[!-+\--~]+$/;

const AT_ONCE = 20;
const INSPECT_DEPTH = 8;

/** As large as all headers together may be (16 KiB). */
const LONGEST = 16_384;

/** What no authenticator can take for a token, whatever its form: each has broken one before. */
const GARBAGE = [
  '',
  ' ',
  'a'.repeat(LONGEST),
  '.'.repeat(LONGEST),
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
    title: 'has a name that logs can show',
    run: async ({ running }) => {
      assert.match(running.authenticator.name, NAME, `name must match ${NAME}`);
    },
  },
  {
    id: 'authenticator.good',
    title: 'answers the actor of good credentials, with exactly their scopes, also a second time',
    run: async (bench) => {
      for (const { credentials, actor } of [...bench.running.good, ...bench.running.good]) {
        const answered = await bench.ask('good credentials', credentials);
        assert.ok(answered !== null, 'good credentials must be answered with an actor');
        assert.deepEqual(describe(answered), { ...actor, scopes: actor.scopes.toSorted() });
      }
    },
  },
  {
    id: 'authenticator.actor',
    title: 'answers actors as the contract has them: kind, id, scopes',
    run: async (bench) => {
      for (const { credentials } of bench.running.good) {
        const actor = await bench.ask('good credentials', credentials);
        assert.ok(actor !== null, 'good credentials must be answered with an actor');
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
    title: 'answers null, and does not throw, for credentials that are bad',
    skip: ({ running }) => (running.bad.length === 0 ? 'the subject has no bad credentials' : null),
    run: async (bench) => {
      for (const [index, credentials] of bench.running.bad.entries()) {
        const actor = await bench.ask(`bad credentials ${index}`, credentials);
        assert.equal(actor, null, `bad credentials ${index} must be answered with null`);
      }
    },
  },
  {
    id: 'authenticator.garbage',
    title: 'answers null, and does not throw, for what is no token at all',
    run: async (bench) => {
      const [{ credentials }] = bench.running.good;
      for (const [index, token] of GARBAGE.entries()) {
        const actor = await bench.ask(`garbage ${index}`, { ...credentials, token });
        assert.equal(actor, null, `garbage ${index} must be answered with null`);
      }
    },
  },
  {
    id: 'authenticator.near-miss',
    title: 'does not take a token for another that is nearly the same',
    run: async (bench) => {
      for (const { credentials, actor } of bench.running.good) {
        const { token } = credentials;
        const near = [token.slice(0, -2), token.slice(1), `${token}x`, `x${token}`, `${token} `];
        for (const [index, changed] of near.entries()) {
          const answered = await bench.ask(`near miss ${index}`, {
            ...credentials,
            token: changed,
          });
          if (answered === null) continue;
          const expected = { ...actor, scopes: actor.scopes.toSorted() };
          assert.notDeepEqual(describe(answered), expected, `near miss ${index} must not be taken`);
        }
      }
    },
  },
  {
    id: 'authenticator.scheme',
    title: 'answers null for its tokens under another scheme',
    run: async (bench) => {
      const own = new Set(bench.running.good.map(({ credentials }) => credentials.scheme));
      for (const { credentials } of bench.running.good) {
        for (const scheme of ['', 'basic', 'bearer', 'digest', 'negotiate']) {
          if (own.has(scheme)) continue;
          const actor = await bench.ask(`scheme '${scheme}'`, { ...credentials, scheme });
          assert.equal(actor, null, `a token under the scheme '${scheme}' must not be taken`);
        }
      }
    },
  },
  {
    id: 'authenticator.apart',
    title: `keeps ${AT_ONCE} calls at once apart`,
    run: async (bench) => {
      const [{ credentials: first }] = bench.running.good;
      const bad = { ...first, token: `${first.token.slice(0, 1)}-no-such-token` };
      const asked = Array.from({ length: AT_ONCE }, (_, index) => {
        const good = bench.running.good[index % (bench.running.good.length + 1)];
        const credentials: Credentials = good?.credentials ?? bad;
        return { credentials, id: good?.actor.id ?? null };
      });
      const actors = await Promise.all(
        asked.map(({ credentials }) => bench.ask('credentials', credentials)),
      );
      assert.deepEqual(
        actors.map((actor) => actor?.id ?? null),
        asked.map(({ id }) => id),
      );
    },
  },
  {
    id: 'authenticator.no-secrets',
    title: 'shows no token when it is inspected',
    run: async (bench) => {
      const { authenticator, good, bad } = bench.running;
      const presented = [...good.map(({ credentials }) => credentials), ...bad];
      for (const credentials of presented) await bench.ask('credentials', credentials);
      const text = inspect(authenticator, { depth: INSPECT_DEPTH, maxStringLength: null });
      for (const { token } of presented) assert.ok(!text.includes(token), 'a token is shown');
    },
  },
  {
    id: 'authenticator.handles',
    title: 'keeps no timer, socket or other handle once it was stopped',
    run: async (bench) => {
      const { handlesBefore } = bench;
      const [{ credentials }] = bench.running.good;
      await bench.ask('good credentials', credentials);
      await bench.stop();
      await bench.patience.eventually(
        `that no more than ${handlesBefore} handles are active`,
        () => countHandles() <= handlesBefore,
      );
    },
  },
];

function describe({ kind, id, scopes }: Actor): object {
  return { kind, id, scopes: [...scopes].toSorted() };
}
