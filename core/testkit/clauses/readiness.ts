import assert from 'node:assert/strict';
import type { AdapterClause } from '../clause.js';
import { createFakeOpenContext } from '../fakes/fake-open-context.js';
import { REFERENCE_MANIFEST } from '../reference/reference-manifest.js';
import { needs } from './needs.js';

const LINE = /^[^\p{Cc}]+$/u;
const NEVER = () => new AbortController().signal;

export const READINESS: readonly AdapterClause[] = [
  {
    id: 'manifest.answers',
    title: 'returns the manifest of the provider unchanged',
    skip: needs('manifest'),
    run: async (harness) => {
      const { provider } = await harness.open();
      const manifest = await harness.wait.settles('manifest', provider.manifest(NEVER()));
      const expected: unknown = JSON.parse(JSON.stringify(REFERENCE_MANIFEST));
      assert.deepEqual(JSON.parse(new TextDecoder().decode(manifest)), expected);
    },
  },
  {
    id: 'manifest.down',
    title: 'fails to return the manifest while the provider is down, and returns it afterwards',
    skip: needs('manifest', 'down'),
    run: async (harness) => {
      await harness.reference.down?.();
      const { provider } = await harness.openUnready();
      await harness.failureOf('manifest of a provider that is down', provider.manifest(NEVER()));
      await harness.reference.up?.();
      await harness.wait.eventually('a manifest after the provider came up', () =>
        provider.manifest(NEVER()).then(
          () => true,
          () => false,
        ),
      );
    },
  },
  {
    id: 'readiness.up',
    title: 'reports a provider that is up as ready',
    run: async (harness) => {
      await harness.ready(await harness.openUnready());
    },
  },
  {
    id: 'readiness.down',
    title: 'reports a provider that is down as not ready',
    skip: needs('down'),
    run: async (harness) => {
      const { provider } = await harness.open();
      await harness.reference.down?.();
      await harness.failureOf('check of a provider that is down', provider.check(NEVER()));
    },
  },
  {
    id: 'readiness.credentials',
    title: 'says whether it gets its credentials, and why not in one line without a secret',
    skip: needs('tryCredentials'),
    run: async (harness) => {
      const { adapter, reference } = harness;
      const config = harness.check(reference.config);
      const ask = async () =>
        harness.wait.settles(
          'tryCredentials',
          (async () => adapter.tryCredentials?.(config, createFakeOpenContext(reference)))(),
        );
      assert.equal(await ask(), null, 'with its credentials, tryCredentials must return null');
      const issue = reference.credentials?.withhold();
      if (issue === undefined) return;
      const reason = await ask();
      issue();
      assert.ok(typeof reason === 'string', 'without its credentials, it must return the reason');
      assert.match(reason, LINE, 'the reason must be one line');
      for (const secret of Object.values(reference.secrets ?? {})) {
        assert.ok(!reason.includes(secret), 'the reason must not contain a secret');
      }
    },
  },
  {
    id: 'readiness.recovers',
    title: 'recovers when a provider comes back, without being reopened',
    skip: needs('down'),
    run: async (harness) => {
      const opened = await harness.open();
      await opened.read('/echo/before');
      await harness.reference.down?.();
      await harness.failureOf('a call while down', opened.invoke({ target: '/echo/down' }));
      await harness.reference.up?.();
      await harness.wait.eventually('a check after the provider came back', () =>
        opened.provider.check(NEVER()).then(
          () => true,
          () => false,
        ),
      );
      await harness.wait.eventually('a call after the provider came back', () =>
        opened.invoke({ target: '/echo/after' }).then(
          ({ status }) => status === 200,
          () => false,
        ),
      );
    },
  },
];
