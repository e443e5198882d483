import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { started } from '../../support/started.js';
import {
  type RedisServer,
  requireRedisServer,
  startRedisServer,
} from '../../support/store/redis-server.js';
import { ACME_REDIS } from './acme-redis.js';

const CALLER = 'Bearer dev-service:test:counters.use';
const OPERATOR = 'Bearer dev-system:operator';

const ROUTES = [
  ['GET', '/counters/{name}', { command: 'GET', key: 'counter:{name}' }],
  ['POST', '/counters/{name}', { command: 'INCR', key: 'counter:{name}' }],
] as const;

const describeModule = (port: number, routes: readonly (readonly [string, string, object])[]) => ({
  apiVersion: 'modgate/v1',
  module: 'counters',
  provider: { kind: 'acme-redis', config: { port } },
  provider_errors: 'passthrough',
  manifest: {
    inline: {
      protocol: 'modgate.manifest.v1',
      module_id: 'counters',
      capabilities: ['counters.use'],
      http_routes: routes.map(([method, path, options]) => ({
        method,
        path,
        capability: 'counters.use',
        operation: { 'acme-redis': options, ...(method === 'POST' && { body: 'optional' }) },
      })),
    },
  },
});

describe("a stranger's kind", () => {
  let folder = '';
  let redis: RedisServer | undefined;
  let host: RunningHost | undefined;

  before(async function () {
    requireRedisServer(this);
    folder = mkdtempSync(join(tmpdir(), 'modgate-stranger-'));
    mkdirSync(join(folder, 'node_modules'));
    mkdirSync(join(folder, 'plugins/acme-redis'), { recursive: true });
    symlinkSync(process.cwd(), join(folder, 'node_modules/modgate'));
    const superstruct = join(process.cwd(), 'node_modules/superstruct');
    symlinkSync(superstruct, join(folder, 'node_modules/superstruct'));
    for (const [name, text] of Object.entries(ACME_REDIS)) {
      writeFileSync(join(folder, 'plugins/acme-redis', name), text);
    }
    redis = await startRedisServer();
    host = await startHost({
      args: ['--plugins', join(folder, 'plugins')],
      files: { 'counters.json': describeModule(redis.port, ROUTES) },
    });
  });

  after(async () => {
    await host?.stop();
    await redis?.kill();
    if (folder !== '') rmSync(folder, { recursive: true, force: true });
  });

  const call = (method: string, path: string, authorization = CALLER) =>
    fetch(`${started(host).url}${path}`, { method, headers: { authorization } });

  it('mounts, and carries calls to its own protocol', async () => {
    const path = '/modules/counters/http/counters/a%20b';
    expect((await call('GET', path)).status).to.equal(404);
    for (const value of ['1', '2']) {
      const response = await call('POST', path);
      expect(response.status).to.equal(200);
      expect(await response.json()).to.deep.include({ data: { value } });
    }
    expect(await (await call('GET', path)).json()).to.deep.include({ data: { value: '2' } });
    expect(await started(redis).client.get('counter:a b')).to.equal('2');
  });

  it('is shown like any other', async () => {
    const { modules } = (await (await call('GET', '/modules', OPERATOR)).json()) as {
      readonly modules: readonly { readonly state: string; readonly facts: unknown }[];
    };
    expect(modules[0]).to.deep.include({ state: 'live', facts: [{ name: 'keys', value: '2' }] });
    const isCounted = async () =>
      /^modgate_acme_redis_commands_total\{module="counters"\} [1-9]/m.test(
        await (await call('GET', '/metrics', OPERATOR)).text(),
      );
    await waitUntil('its counter is in the metrics', isCounted);
  });

  it('has its part of a route validated by its own struct', async () => {
    const wrong = [['GET', '/counters/{name}', { command: 'FLUSHALL', key: 'a' }]] as const;
    started(host).drop('counters.json', describeModule(started(redis).port, wrong));
    const reasonOf = async () => {
      const { modules } = (await (await call('GET', '/modules', OPERATOR)).json()) as {
        readonly modules: readonly { readonly reason: string | null }[];
      };
      return modules[0]?.reason ?? '';
    };
    await waitUntil('the file is refused', async () => (await reasonOf()) !== '');
    expect(await reasonOf()).to.match(/acme-redis/);
    expect((await call('GET', '/modules/counters/http/counters/a%20b')).status).to.equal(200);
  });
});
