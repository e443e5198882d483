import { type AddressInfo, connect } from 'node:net';
import { any, string, type } from 'superstruct';
import {
  type Provider,
  type ProviderAdapter,
  ProviderFailure,
} from '../../../../core/contract/index.js';
import { startHttpReference } from '../../../../core/testkit/index.js';
import { changeProvider, changeRequest, GOOD, leaks, type Mutant, NEVER } from './mutant.js';

export const OPENING_MUTANTS: readonly Mutant[] = [
  {
    clause: 'adapter.brand',
    defect: 'was not created by defineAdapter',
    reason: /brand/,
    adapter: Object.fromEntries(Object.entries(GOOD)) as unknown as ProviderAdapter,
  },
  {
    clause: 'adapter.brand',
    defect: 'is for another contract version',
    reason: /contract must be 1/,
    adapter: { ...GOOD, contract: 2 as 1 },
  },
  {
    clause: 'adapter.kind',
    defect: 'has a kind that is invalid in a descriptor',
    reason: /kind must match/,
    adapter: { ...GOOD, kind: 'My Kind' },
  },
  {
    clause: 'config.unknown-keys',
    defect: 'accepts any key in its config',
    reason: /must reject an unknown key/,
    adapter: { ...GOOD, config: type({ endpoints: any() }) as ProviderAdapter['config'] },
  },
  {
    clause: 'config.not-a-mapping',
    defect: 'accepts any config',
    reason: /config must reject undefined/,
    adapter: { ...GOOD, config: any() },
  },
  {
    clause: 'operation.unknown-keys',
    defect: 'accepts any key in what its routes say to it',
    reason: /operation must reject an unknown key/,
    adapter: { ...GOOD, operation: type({ call: string() }) },
    start: async (reference) => ({
      ...(await startHttpReference(reference)),
      operation: ({ path }) => ({ call: path }),
    }),
  },
  {
    clause: 'adapter.check-descriptor',
    defect: 'checks its descriptors later',
    reason: /returns invalid problems/,
    adapter: { ...GOOD, checkDescriptor: () => Promise.resolve([]) as never },
  },
  {
    clause: 'adapter.check-descriptor',
    defect: 'takes the envelope for raw mode',
    reason: /there must be no problem/,
    adapter: {
      ...GOOD,
      checkDescriptor: ({ responses }) => [
        { path: ['responses', 'mode'], message: `must not be ${responses.mode}` },
      ],
    },
  },
  {
    clause: 'adapter.check-manifest',
    defect: 'rejects its own routes',
    reason: /there must be no problem/,
    adapter: {
      ...GOOD,
      checkManifest: (_manifest, routes) =>
        routes.map((_route, index) => {
          return { path: ['http_routes', index], message: 'must not be there' };
        }),
    },
  },
  {
    clause: 'adapter.check-routes',
    defect: 'finds no use for its own routes',
    reason: /there must be no problem/,
    adapter: {
      ...GOOD,
      checkRoutes: async (_config, routes) =>
        routes.map((_route, index) => {
          return { path: ['http_routes', index], message: 'calls nothing' };
        }),
    },
  },
  {
    clause: 'open.routes',
    defect: 'takes its routes once',
    reason: /used twice/,
    adapter: changeProvider(() => {
      let uses = 0;
      return {
        useRoutes: () => {
          uses += 1;
          if (uses > 1) throw new Error('used twice');
        },
      };
    }),
  },
  {
    clause: 'adapter.describe-config',
    defect: 'describes its config later',
    reason: /returns an invalid config description/,
    adapter: { ...GOOD, describeConfig: () => Promise.resolve({ hostUses: [] }) as never },
  },
  {
    clause: 'adapter.describe-config',
    defect: 'uses a device of the host',
    reason: /returns an invalid config description/,
    adapter: {
      ...GOOD,
      describeConfig: () => ({ hostUses: [{ kind: 'device' as 'file', name: '/dev/tty' }] }),
    },
  },
  {
    clause: 'adapter.describe-config',
    defect: 'says something else each time',
    reason: /must return the same for each call/,
    adapter: {
      ...GOOD,
      describeConfig: () => ({
        hostUses: [{ kind: 'file', name: `/run/${process.hrtime.bigint()}` }],
      }),
    },
  },
  {
    clause: 'open.while-down',
    defect: 'connects while it opens',
    reason: /ECONNREFUSED/,
    adapter: changeProvider(async (good) => {
      await good.check(new AbortController().signal);
      return {};
    }),
  },
  {
    clause: 'open.while-down',
    defect: 'remembers that the provider was down',
    reason: /a call after the provider came up did not happen/,
    adapter: changeProvider(async (good) => {
      const first = await good.check(new AbortController().signal).catch((error: unknown) => error);
      return first === undefined ? {} : { invoke: () => Promise.reject(first) };
    }),
  },
  {
    clause: 'open.independent',
    defect: 'shares one provider between all openings',
    reason: /UND_ERR_DESTROYED|no answer|no response/,
    adapter: shareProvider(),
  },
  {
    clause: 'manifest.answers',
    defect: 'drops unknown fields of the manifest',
    reason: /deepEqual|deeply equal|deep-equal/,
    adapter: changeProvider((good) => ({
      manifest: async (signal) => {
        const sent = new TextDecoder().decode(await good.manifest(signal));
        const { admin: _left, ...manifest } = JSON.parse(sent);
        return Buffer.from(JSON.stringify(manifest));
      },
    })),
  },
  {
    clause: 'manifest.down',
    defect: 'returns an empty manifest while the provider is down',
    reason: /must fail, but it succeeded/,
    adapter: changeProvider((good) => ({
      manifest: (signal) => good.manifest(signal).catch(() => Buffer.from('{}')),
    })),
  },
  {
    clause: 'readiness.up',
    defect: 'never reports the provider as ready',
    reason: /check of the provider did not happen/,
    adapter: changeProvider(() => ({
      check: () => Promise.reject(new ProviderFailure('unavailable', 'not ready')),
    })),
  },
  {
    clause: 'readiness.down',
    defect: 'always reports the provider as ready',
    reason: /must fail, but it succeeded/,
    adapter: changeProvider(() => ({ check: async () => {} })),
  },
  {
    clause: 'readiness.recovers',
    defect: 'does not recover once the provider was down',
    reason: /a call after the provider came back did not happen/,
    adapter: changeProvider((good) => {
      let broken: unknown;
      return {
        invoke: async (invocation) => {
          if (broken !== undefined) throw broken;
          return good.invoke(invocation).catch((error: unknown) => {
            broken = error;
            throw error;
          });
        },
      };
    }),
  },
  {
    clause: 'admin.list',
    defect: 'requests the first page each time',
    reason: /deep/,
    adapter: changeRequest((invocation) => {
      const { operation } = invocation;
      if (operation.kind !== 'admin_list') return invocation;
      return { ...invocation, operation: { ...operation, cursor: null } };
    }),
  },
  {
    clause: 'admin.action',
    defect: 'rebuilds the input',
    reason: /12345678901234567890/,
    adapter: changeRequest((invocation) => {
      const { operation } = invocation;
      if (operation.kind !== 'admin_action') return invocation;
      const inputJson = Buffer.from(JSON.stringify(operation.input));
      return { ...invocation, operation: { ...operation, inputJson } };
    }),
  },
  {
    clause: 'configure.delivers',
    defect: 'reports a delivery that did not happen',
    reason: /deep/,
    adapter: changeProvider((good) => ({
      invoke: async (invocation) =>
        invocation.operation.kind === 'configure'
          ? { status: 204, headers: {}, body: null }
          : good.invoke(invocation),
    })),
  },
  {
    clause: 'configure.again',
    defect: 'delivers each revision only once',
    reason: /each delivery must arrive/,
    adapter: changeDeliveries((revision, last) => revision !== last),
  },
  {
    clause: 'configure.older',
    defect: 'does not deliver an older revision',
    reason: /an older revision must arrive/,
    adapter: changeDeliveries((revision, last) => revision >= last, 409),
  },
  {
    clause: 'configure.older',
    defect: 'reports each delivery as accepted',
    reason: /a rejection must not have the status 204/,
    adapter: changeProvider((good) => ({
      invoke: async (invocation) => {
        const outcome = await good.invoke(invocation);
        const isDelivery = invocation.operation.kind === 'configure';
        return isDelivery ? { ...outcome, status: 204, body: null } : outcome;
      },
    })),
  },
  {
    clause: 'close.sockets',
    defect: 'leaks a connection',
    reason: /the close of all connections did not happen/,
    adapter: changeProvider((_good, _context, { endpoints: [url = ''] }) => {
      const { port } = new URL(url) as unknown as AddressInfo;
      connect({ port: Number(port), host: '127.0.0.1' })
        .on('error', () => {})
        .unref();
      return {};
    }),
  },
  {
    clause: 'close.handles',
    defect: 'leaks a timer',
    reason: /active handles did not happen/,
    adapter: changeProvider(() => {
      leaks.timers.push(setInterval(() => {}, 1_000));
      return {};
    }),
  },
  {
    clause: 'close.during-invoke',
    defect: 'does not fail the calls in flight when it closes',
    reason: /did not settle/,
    adapter: changeProvider((good, { scope }) => ({
      invoke: (invocation) =>
        good.invoke(invocation).catch((failure: unknown) => {
          if (scope.signal.aborted) return NEVER;
          throw failure;
        }),
    })),
  },
  {
    clause: 'lifetime.handles',
    defect: 'leaks a timer occasionally',
    reason: /active handles did not happen/,
    adapter: changeProvider(() => {
      if (Math.random() < 0.2) leaks.timers.push(setInterval(() => {}, 1_000));
      return {};
    }),
  },
  {
    clause: 'lifetime.memory',
    defect: 'keeps all opened providers in memory',
    reason: /memory grew by/,
    adapter: changeProvider(() => {
      leaks.memory.push(Array.from({ length: 20_000 }, (_, index) => `${index}`));
      return {};
    }),
  },
];

/** Answers a delivery with `status`, without sending it, unless `isSent`. */
function changeDeliveries(
  isSent: (revision: number, last: number) => boolean,
  status = 204,
): ProviderAdapter {
  return changeProvider((good) => {
    let last = -1;
    return {
      invoke: async (invocation) => {
        const { operation } = invocation;
        if (operation.kind !== 'configure') return good.invoke(invocation);
        if (!isSent(operation.revision, last)) return { status, headers: {}, body: null };
        last = operation.revision;
        return good.invoke(invocation);
      },
    };
  });
}

function shareProvider(): ProviderAdapter {
  let shared: Promise<Provider> | null = null;
  return {
    ...GOOD,
    open: (config, context) => {
      shared ??= Promise.resolve(GOOD.open(config, context));
      return shared;
    },
  };
}
