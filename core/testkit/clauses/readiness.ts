import assert from 'node:assert/strict';
import type { AdapterClause } from '../clause.js';
import { REFERENCE_MANIFEST } from '../reference/reference-manifest.js';
import { needs } from './needs.js';

const NEVER = () => new AbortController().signal;

export const READINESS: readonly AdapterClause[] = [
  {
    id: 'manifest.answers',
    title: 'answers the manifest as the provider gives it',
    skip: needs('manifest'),
    run: async (bench) => {
      const { provider } = await bench.open();
      const manifest = await bench.patience.settles('manifest', provider.manifest(NEVER()));
      assert.deepEqual(manifest, JSON.parse(JSON.stringify(REFERENCE_MANIFEST)));
    },
  },
  {
    id: 'manifest.down',
    title: 'fails to answer the manifest while the provider is down, and answers it afterwards',
    skip: needs('manifest', 'down'),
    run: async (bench) => {
      await bench.reference.down?.();
      const { provider } = await bench.openUnready();
      await bench.failureOf('manifest of a provider that is down', provider.manifest(NEVER()));
      await bench.reference.up?.();
      await bench.patience.eventually('a manifest after the provider came up', () =>
        provider.manifest(NEVER()).then(
          () => true,
          () => false,
        ),
      );
    },
  },
  {
    id: 'readiness.up',
    title: 'says of a provider that is up that it is',
    run: async (bench) => {
      await bench.ready(await bench.openUnready());
    },
  },
  {
    id: 'readiness.down',
    title: 'says of a provider that is down that it is',
    skip: needs('down'),
    run: async (bench) => {
      const { provider } = await bench.open();
      await bench.reference.down?.();
      await bench.failureOf('check of a provider that is down', provider.check(NEVER()));
    },
  },
  {
    id: 'readiness.recovers',
    title: 'finds a provider that was down and came back, without being opened again',
    skip: needs('down'),
    run: async (bench) => {
      const opened = await bench.open();
      await opened.read('/echo/before');
      await bench.reference.down?.();
      await bench.failureOf('a call while down', opened.invoke({ target: '/echo/down' }));
      await bench.reference.up?.();
      await bench.patience.eventually('a check after the provider came back', () =>
        opened.provider.check(NEVER()).then(
          () => true,
          () => false,
        ),
      );
      await bench.patience.eventually('a call after the provider came back', () =>
        opened.invoke({ target: '/echo/after' }).then(
          ({ status }) => status === 200,
          () => false,
        ),
      );
    },
  },
];
