import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { type Actor, CONTRACT_VERSION, isAuthenticatorFactory } from '../../contract/index.js';
import { readDeclaration } from '../../lib/authenticator-declaration.js';
import type { AuthenticatorHarness } from '../authenticator-harness.js';
import type { GivenCredentials } from '../authenticator-subject.js';
import type { Clause } from '../clause.js';
import { completeCredentials, listSecretParts } from '../given-credentials.js';
import { countHandles } from '../wait.js';

const NAME = /^[a-z][a-z0-9-]*$/;
const CONCURRENT_CALLS = 20;
const INSPECT_DEPTH = 8;

/** The limit of all headers together (16 KiB). */
const MAX_TOKEN_LENGTH = 16_384;

/** Invalid in every token format. Each has broken an authenticator before. */
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
    id: 'authenticator.declaration',
    title: 'is created by defineAuthenticator for this contract version',
    run: async ({ subject: { authenticator } }) => {
      assert.ok(
        isAuthenticatorFactory(authenticator),
        'it must have the brand of defineAuthenticator',
      );
      assert.equal(
        authenticator.contract,
        CONTRACT_VERSION,
        `contract must be ${CONTRACT_VERSION}`,
      );
    },
  },
  {
    id: 'authenticator.name',
    title: 'has a printable name',
    run: async ({ subject, authenticator }) => {
      assert.match(subject.authenticator.name, NAME, `name must match ${NAME}`);
      assert.match(authenticator.name, NAME, `name of the opened one must match ${NAME}`);
    },
  },
  {
    id: 'authenticator.config',
    title: 'rejects unknown keys in its config',
    run: async ({ subject: { authenticator }, issuer: { config = {} } }) => {
      const withUnknown = { ...Object(config), 'no-such-key': 1 };
      const [error] = authenticator.config.validate(withUnknown, { coerce: true });
      assert.ok(error !== undefined, 'an unknown key must be rejected');
    },
  },
  {
    id: 'authenticator.open',
    title: 'opens in time',
    // The harness has opened it within the time of a step.
    run: async ({ authenticator }) => {
      const { authenticate } = authenticator;
      assert.equal(typeof authenticate, 'function', 'open must return a function authenticate');
    },
  },
  {
    id: 'authenticator.headers',
    title: 'names the headers of its credentials, and its challenges',
    run: async ({ authenticator, issuer: { good } }) => {
      const { reads } = readDeclaration(authenticator);
      for (const { credentials } of good) {
        const { headers } = completeCredentials(credentials);
        const isCalled = reads.some((name) => headers.has(name));
        assert.ok(isCalled, 'valid credentials must have a header that the authenticator reads');
      }
    },
  },
  {
    id: 'authenticator.good',
    title: 'returns the actor of valid credentials with exactly its scopes, each time',
    run: async (harness) => {
      for (const { credentials, actor, bodySha256 } of [
        ...harness.issuer.good,
        ...harness.issuer.good,
      ]) {
        const accepted = await harness.authenticate('valid credentials', credentials);
        assert.ok(accepted !== null, 'valid credentials must return an actor');
        assert.deepEqual(describe(accepted.actor), { ...actor, scopes: actor.scopes.toSorted() });
        assert.equal(accepted.bodySha256, bodySha256, 'bodySha256 must be the expected one');
      }
    },
  },
  {
    id: 'authenticator.actor',
    title: 'returns actors with a valid kind, id and scopes',
    run: async (harness) => {
      for (const { credentials } of harness.issuer.good) {
        const accepted = await harness.authenticate('valid credentials', credentials);
        assert.ok(accepted !== null, 'valid credentials must return an actor');
      }
    },
  },
  {
    id: 'authenticator.bad',
    title: 'returns null, and does not throw, for invalid credentials',
    skip: ({ issuer }) =>
      issuer.bad.length === 0 ? 'the subject has no invalid credentials' : null,
    run: async (harness) => {
      for (const [index, credentials] of harness.issuer.bad.entries()) {
        const accepted = await harness.authenticate(`invalid credentials ${index}`, credentials);
        assert.equal(accepted, null, `invalid credentials ${index} must return null`);
      }
    },
  },
  {
    id: 'authenticator.garbage',
    title: 'returns null, and does not throw, for malformed tokens',
    run: async (harness) => {
      const [{ credentials }] = harness.issuer.good;
      for (const { name, replace } of listSecretParts(credentials, harness.authenticator)) {
        for (const [index, text] of GARBAGE.entries()) {
          const accepted = await harness.authenticate(`garbage ${index} in ${name}`, replace(text));
          assert.equal(accepted, null, `garbage ${index} in ${name} must return null`);
        }
      }
    },
  },
  {
    id: 'authenticator.near-miss',
    title: 'does not accept a token that is nearly the same',
    run: async (harness) => {
      for (const { credentials, actor } of harness.issuer.good) {
        for (const { name, value, replace } of listSecretParts(
          credentials,
          harness.authenticator,
        )) {
          for (const [index, changed] of listNearMisses(name, value).entries()) {
            const accepted = await harness.authenticate(`near miss ${index}`, replace(changed));
            if (accepted === null) continue;
            const expected = { ...actor, scopes: actor.scopes.toSorted() };
            const message = `near miss ${index} in ${name} must not be accepted`;
            assert.notDeepEqual(describe(accepted.actor), expected, message);
          }
        }
      }
    },
  },
  {
    id: 'authenticator.scheme',
    title: 'returns null for its tokens under another scheme',
    skip: ({ issuer }) =>
      issuer.good.every(({ credentials }) => (credentials.scheme ?? '') === '')
        ? 'the credentials have no scheme'
        : null,
    run: async (harness) => {
      const schemes = new Set(harness.issuer.good.map(({ credentials }) => credentials.scheme));
      for (const { credentials } of harness.issuer.good) {
        if ((credentials.scheme ?? '') === '') continue;
        for (const scheme of ['', 'basic', 'bearer', 'digest', 'negotiate']) {
          if (schemes.has(scheme)) continue;
          const accepted = await harness.authenticate(`scheme '${scheme}'`, {
            ...credentials,
            scheme,
          });
          assert.equal(accepted, null, `a token with the scheme '${scheme}' must not be accepted`);
        }
      }
    },
  },
  {
    id: 'authenticator.signed',
    title: 'binds credentials with the digest of a body to the method and the target',
    skip: ({ issuer }) =>
      issuer.good.every(({ bodySha256 }) => bodySha256 === undefined)
        ? 'the credentials cover no body'
        : null,
    run: async (harness) => {
      for (const { credentials, bodySha256 } of harness.issuer.good) {
        if (bodySha256 === undefined) continue;
        const { method, target } = completeCredentials(credentials);
        const other = { method: method === 'DELETE' ? 'PUT' : 'DELETE', target: `${target}x` };
        for (const change of [{ method: other.method }, { target: other.target }]) {
          const accepted = await harness.authenticate('another request', {
            ...credentials,
            ...change,
          });
          assert.equal(accepted, null, `another ${Object.keys(change)} must return null`);
        }
      }
    },
  },
  {
    id: 'authenticator.apart',
    title: `keeps ${CONCURRENT_CALLS} concurrent calls apart`,
    run: async (harness) => {
      const [{ credentials: first }] = harness.issuer.good;
      const [part] = listSecretParts(first, harness.authenticator);
      assert.ok(part, 'valid credentials must have a header that the authenticator reads');
      const bad = part.replace(`${part.value.slice(0, 1)}-no-such-token`);
      const calls = Array.from({ length: CONCURRENT_CALLS }, (_, index) => {
        const good = harness.issuer.good[index % (harness.issuer.good.length + 1)];
        const credentials: GivenCredentials = good?.credentials ?? bad;
        return { credentials, id: good?.actor.id ?? null };
      });
      const accepted = await Promise.all(
        calls.map(({ credentials }) => harness.authenticate('credentials', credentials)),
      );
      assert.deepEqual(
        accepted.map((result) => result?.actor.id ?? null),
        calls.map(({ id }) => id),
      );
    },
  },
  {
    id: 'authenticator.no-secrets',
    title: 'does not reveal tokens and secrets when it is inspected, nor in its log',
    run: async (harness) => {
      const { authenticator, context } = harness;
      const { good, bad, references } = harness.issuer;
      const presented = [...good.map(({ credentials }) => credentials), ...bad];
      for (const credentials of presented) await harness.authenticate('credentials', credentials);
      const options = { depth: INSPECT_DEPTH, maxStringLength: null };
      const text = inspect([authenticator, context.log.lines], options);
      for (const secret of Object.values(references?.secrets ?? {})) {
        assert.ok(!text.includes(secret), 'a secret of the config is revealed');
      }
      for (const credentials of presented) {
        for (const { name, value } of listSecretParts(credentials, authenticator)) {
          if (value === '') continue;
          assert.ok(!text.includes(value), `the ${name} is revealed`);
        }
      }
    },
  },
  {
    id: 'authenticator.handles',
    title: 'keeps no timer, socket or other handle after its scope has closed',
    run: async (harness) => {
      const { handlesBefore } = harness;
      const [{ credentials }] = harness.issuer.good;
      await harness.authenticate('valid credentials', credentials);
      await harness.close();
      await harness.wait.eventually(
        `a return to ${handlesBefore} active handles`,
        () => countHandles() <= handlesBefore,
      );
    },
  },
];

/** HTTP removes the space around the value of a header, so only a token can end with one. */
function listNearMisses(name: string, value: string): string[] {
  const near = [value.slice(0, -2), value.slice(1), `${value}x`, `x${value}`];
  return name === 'token' ? [...near, `${value} `] : near;
}

function describe({ kind, id, scopes }: Actor): object {
  return { kind, id, scopes: [...scopes].toSorted() };
}
