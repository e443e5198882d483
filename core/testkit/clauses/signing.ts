import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { CONTRACT_VERSION, isSignerFactory, type RequestToSign } from '../../contract/index.js';
import { findSignedHeaderProblem } from '../../lib/signed-headers.js';
import type { Clause } from '../clause.js';
import type { SignerHarness } from '../signer-harness.js';
import { countHandles } from '../wait.js';

const NAME = /^[a-z][a-z0-9-]*$/;
/** The host's timeout for a signature. Milliseconds. */
const SIGN_MS = 1_000;
const INSPECT_DEPTH = 8;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const create = (method: string, target: string, bodySha256: string | null): RequestToSign => ({
  method,
  url: `https://provider.example${target}`,
  headers: new Map([
    ['accept', 'application/json'],
    ['modgate-call-id', '6f6f1a52-0c8e-4f57-9d1c-0f2b6f0d7a11'],
    ...(bodySha256 === sha256('') ? [] : [['content-type', 'application/json'] as const]),
  ]),
  bodySha256,
});

/** Requests without a body, with one, with a streamed one, and with unusual targets. */
const REQUESTS: readonly RequestToSign[] = [
  create('GET', '/items', sha256('')),
  create('POST', '/items', sha256('{"a":1}')),
  create('PUT', '/items/1', null),
  create('DELETE', '/a%20b/c%2Fd/', sha256('')),
  create('GET', "/?q=%C3%A9&empty=&q=1&sub='()*!~", sha256('')),
];

export const SIGNING: readonly Clause<SignerHarness>[] = [
  {
    id: 'signer.declaration',
    title: 'is created by defineSigner for this contract version',
    run: async ({ subject: { signer } }) => {
      assert.ok(isSignerFactory(signer), 'it must have the brand of defineSigner');
      assert.equal(signer.contract, CONTRACT_VERSION, `contract must be ${CONTRACT_VERSION}`);
    },
  },
  {
    id: 'signer.name',
    title: 'has a printable name',
    run: async ({ subject }) => assert.match(subject.signer.name, NAME, `it must match ${NAME}`),
  },
  {
    id: 'signer.config',
    title: 'rejects unknown keys in its config',
    run: async ({ subject: { signer, config = {} } }) => {
      const withUnknown = { ...Object(config), 'no-such-key': 1 };
      const [error] = signer.config.validate(withUnknown, { coerce: true });
      assert.ok(error !== undefined, 'an unknown key must be rejected');
    },
  },
  {
    id: 'signer.open',
    title: 'opens in time',
    // The harness has opened it within the time of a step.
    run: async ({ signer }) => {
      assert.equal(typeof signer.sign, 'function', 'open must return a function sign');
    },
  },
  {
    id: 'signer.headers',
    title: 'returns headers that may be signed, for requests of every form',
    run: async (harness) => {
      for (const [index, request] of REQUESTS.entries()) {
        const signed: unknown = await harness.sign(`request ${index}`, request);
        const isObject = typeof signed === 'object' && signed !== null && !Array.isArray(signed);
        assert.ok(isObject, 'sign must return an object of headers');
        for (const [name, value] of Object.entries(signed)) {
          assert.equal(findSignedHeaderProblem(name, value), null);
        }
      }
    },
  },
  {
    id: 'signer.time',
    title: `signs within ${SIGN_MS} ms`,
    run: async (harness) => {
      for (const [index, request] of REQUESTS.entries()) {
        const startedAt = performance.now();
        await harness.sign(`request ${index}`, request);
        const took = performance.now() - startedAt;
        assert.ok(took < SIGN_MS, `a signature must take less than ${SIGN_MS} ms`);
      }
    },
  },
  {
    id: 'signer.covers',
    title: 'covers the method and the URL',
    run: async (harness) => {
      const [request] = REQUESTS as readonly [RequestToSign];
      const before = JSON.stringify(await harness.sign('a request', request));
      for (const change of [{ method: 'DELETE' }, { url: `${request.url}x` }]) {
        const after = JSON.stringify(await harness.sign('another', { ...request, ...change }));
        const [changedPart] = Object.keys(change);
        assert.notEqual(after, before, `another ${changedPart} must have another signature`);
      }
    },
  },
  {
    id: 'signer.vectors',
    title: 'signs the examples of the subject exactly',
    skip: ({ subject: { vectors = [] } }) =>
      vectors.length === 0 ? 'the subject has no examples' : null,
    run: async (harness) => {
      for (const [index, { request, headers }] of (harness.subject.vectors ?? []).entries()) {
        const signed = Object.entries(await harness.sign(`example ${index}`, request));
        const byLowerName = Object.fromEntries(
          signed.map(([name, value]) => [name.toLowerCase(), value]),
        );
        assert.deepEqual(byLowerName, headers, `example ${index} must be signed as given`);
      }
    },
  },
  {
    id: 'signer.no-secrets',
    title: 'does not reveal its secrets when it is inspected, nor in its log',
    run: async (harness) => {
      for (const [index, request] of REQUESTS.entries()) {
        await harness.sign(`request ${index}`, request);
      }
      const options = { depth: INSPECT_DEPTH, maxStringLength: null };
      const text = inspect([harness.signer, harness.context.log.lines], options);
      for (const secret of Object.values(harness.subject.references?.secrets ?? {})) {
        assert.ok(!text.includes(secret), 'a secret is revealed');
      }
    },
  },
  {
    id: 'signer.handles',
    title: 'keeps no timer, socket or other handle after its scope has closed',
    run: async (harness) => {
      const [request] = REQUESTS as readonly [RequestToSign];
      await harness.sign('a request', request);
      await harness.close();
      await harness.wait.eventually(
        `a return to ${harness.handlesBefore} active handles`,
        () => countHandles() <= harness.handlesBefore,
      );
    },
  },
];
