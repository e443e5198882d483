import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createWorkplace, type Workplace } from '../../support/cli/run-in.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { connectClient } from '../../support/mcp/official-clients.js';
import { openHost, type RunningModgate } from '../../support/open-host.js';
import { started } from '../../support/started.js';
import {
  type RedisServer,
  requireRedisServer,
  startRedisServer,
} from '../../support/store/redis-server.js';

const CALLER =
  'dev-service:test:stock.counters.read,stock.counters.write,stock.blobs.read,stock.blobs.write,stock.sum.read';
const OPERATOR = 'dev-system:operator';
const PASSWORD = 'a-password-of-a-stranger';
/** More than a host holds of a body. */
const BLOB_BYTES = 3_000_000;

const CATALOG = [
  { name: 'counters', type: 'counter' },
  { name: 'blobs', type: 'blob' },
  { name: 'sum', type: 'sum', description: 'Add counters' },
  { name: 'log', type: 'stream' },
];

interface Module {
  readonly state: string;
  readonly reason: string | null;
  readonly facts: unknown;
}

/**
 * A kind of another author, who has the packages `modgate/contract` and `modgate/transport` and their pages alone: it
 * does what kinds grpc, mcp and amqp do.
 */
describe("a stranger's kind", () => {
  let place: Workplace;
  let plugins = '';
  let redis: RedisServer | undefined;
  let host: RunningModgate | undefined;

  before(async function () {
    requireRedisServer(this);
    place = createWorkplace();
    plugins = join(place.folder, 'plugins');
    cpSync('test/plugins/stranger/acme-redis', join(plugins, 'acme-redis'), { recursive: true });
    place.write('plugins/acme-redis/package.json', { type: 'module' });
    mkdirSync(join(place.folder, 'node_modules'));
    symlinkSync(process.cwd(), join(place.folder, 'node_modules/modgate'));
    const superstruct = join(process.cwd(), 'node_modules/superstruct');
    symlinkSync(superstruct, join(place.folder, 'node_modules/superstruct'));
    redis = await startRedisServer();
    await redis.client.set('modgate:catalog', JSON.stringify(CATALOG));
    await redis.client.config('SET', 'requirepass', PASSWORD);
  });

  after(async () => {
    await host?.stop();
    await redis?.kill();
  });

  const send = (path: string, init: RequestInit = {}, as = CALLER) =>
    fetch(`${started(host).url}${path}`, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${as}` },
    });
  const callModule = (path: string, init: RequestInit = {}) =>
    send(`/modules/stock/http${path}`, init);
  const readModule = async (): Promise<Module> => {
    const { modules } = (await (await send('/modules', {}, OPERATOR)).json()) as {
      readonly modules: readonly [Module];
    };
    return modules[0];
  };

  it('imports a module through its importer, with credentials of the transport', async () => {
    const source = `127.0.0.1:${started(redis).port}`;
    const words = ['import', 'acme-redis', source, '--module', 'stock', '--plugins', plugins];
    const secret = place.write('password', PASSWORD);
    const { code, stdout, stderr } = await place.run([...words, '--auth', `file:${secret}`]);
    expect([code, stderr], stdout).to.deep.equal([0, '']);
    expect(stdout).to.include('5 of 6 operations').and.include('type stream is not carried (log)');
    const denied = await place.run([...words, '--out', 'other']);
    expect([denied.code, denied.stderr]).to.deep.equal([
      1,
      `modgate: the import of acme-redis from ${source} failed: Redis reports an error\n`,
    ]);
    const checked = await place.run(['check', '--plugins', plugins, '--json']);
    expect(JSON.parse(checked.stdout).findings).to.deep.equal([]);
  });

  it('passes the clauses of importers', async () => {
    const folder = join(plugins, 'acme-redis');
    const { stdout } = await place.run(['test-plugin', folder, '--only', 'importer.*', '--json']);
    const { subjects } = JSON.parse(stdout) as {
      readonly subjects: readonly {
        readonly subject: string;
        readonly clauses: readonly { readonly id: string; readonly status: string }[];
      }[];
    };
    const own = subjects.find(({ subject }) => subject === "importer 'acme-redis'");
    expect(own?.clauses.length).to.be.above(10);
    expect(own?.clauses.filter(({ status }) => status !== 'pass')).to.deep.equal([]);
  });

  it('mounts, and carries calls to its own protocol', async () => {
    appendFileSync(
      join(place.folder, 'modules.d/stock.yaml'),
      'provider_errors: passthrough\nmcp: { expose: read }\n',
    );
    host = await openHost([
      ...['serve', '--env', 'development', '--port', '0', '--surfaces', 'mcp'],
      ...['--modules', join(place.folder, 'modules.d'), '--plugins', plugins],
      ...['--state', join(place.folder, 'state')],
    ]);
    expect((await callModule('/counters/a%20b')).status).to.equal(404);
    for (const value of ['1', '2']) {
      const response = await callModule('/counters/a%20b', { method: 'POST' });
      expect(response.status).to.equal(200);
      expect(await response.json()).to.deep.include({ data: { value } });
    }
    const response = await callModule('/counters/a%20b');
    expect(await response.json()).to.deep.include({ data: { value: '2' } });
    expect(await started(redis).client.get('counter:a b')).to.equal('2');
  });

  it('streams bodies in both directions', async () => {
    const body = randomBytes(BLOB_BYTES);
    const headers = { 'content-type': 'application/octet-stream' };
    const stored = await callModule('/blobs/a', { method: 'PUT', body, headers });
    expect(stored.status).to.be.within(200, 204);
    expect((await started(redis).client.getBuffer('blob:a'))?.equals(body)).to.equal(true);
    const read = await callModule('/blobs/a');
    expect(read.headers.get('content-length')).to.equal(String(BLOB_BYTES));
    expect(Buffer.from(await read.arrayBuffer()).equals(body)).to.equal(true);
  });

  it('gives agents results of tools, and their progress', async () => {
    await started(redis).client.mset('counter:x', '3', 'counter:y', '4');
    const client = await connectClient(`${started(host).url}/mcp`, CALLER);
    try {
      const { tools } = await client.listTools();
      const tool = tools.find(({ name }) => name === 'stock_sum');
      expect(tool).to.deep.include({ title: 'Add counters' });
      expect(Object.keys(tool?.inputSchema.properties ?? {})).to.deep.equal(['names']);
      const reports: unknown[] = [];
      const result = await client.callTool(
        { name: 'stock_sum', arguments: { names: ['x', 'y'] } },
        { onprogress: (progress) => reports.push(progress) },
      );
      expect(result).to.deep.include({
        content: [{ type: 'text', text: 'The sum is 7.' }],
        structuredContent: { total: 7 },
      });
      expect(reports).to.deep.equal([
        { progress: 1, total: 2, message: 'read x' },
        { progress: 2, total: 2, message: 'read y' },
      ]);
    } finally {
      await client.close();
    }
  });

  it('is shown like any other', async () => {
    const { state, facts } = await readModule();
    expect([state, facts]).to.deep.equal(['live', [{ name: 'keys', value: '4' }]]);
    const isCounted = async () =>
      /^modgate_acme_redis_commands_total\{module="stock"\} [1-9]/m.test(
        await (await send('/metrics', {}, OPERATOR)).text(),
      );
    await waitUntil('its counter is in the metrics', isCounted);
  });

  it('has its part of a route validated by its own struct', async () => {
    const file = join(place.folder, 'modules.d/stock/manifest.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"INCR"', '"FLUSHALL"'));
    await waitUntil('the file is rejected', async () => (await readModule()).reason !== null);
    expect((await readModule()).reason).to.match(/acme-redis/);
    expect((await callModule('/counters/a%20b')).status).to.equal(200);
  });
});
