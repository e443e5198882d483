import { expect } from 'chai';
import { call, JSON_TYPE } from '../support/http/call.js';
import { expectProblem, reasonOf } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';
import { CONTRACT_URL, SUPERSTRUCT_URL, writePlugin } from '../support/isolation/write-plugin.js';
import { scrape } from '../support/observability/exposition.js';
import { startHost } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const MIB = 1_048_576;

/** Holds so many bytes as the path says, and answers when it is told to. */
const ENTRY = `import { defineAdapter } from ${JSON.stringify(CONTRACT_URL)};
import { any } from ${JSON.stringify(SUPERSTRUCT_URL)};
const waiting = [];
const respond = (value) => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(value)),
});
export default { adapters: [defineAdapter({
  kind: 'acme-hold',
  config: any(),
  supports: { streams: true },
  open: () => ({
    manifest: async () => { throw new Error('it is inline'); },
    check: async () => {},
    invoke: async (invocation) => {
      const { bytes, then } = invocation.operation.pathParams;
      if (then === 'go') return respond(waiting.splice(0).map((release) => release()).length);
      const release = invocation.hold(Number(bytes));
      if (then === 'release') for (const _ of [1, 2]) release();
      if (then === 'wait') await new Promise((resolve) => waiting.push(resolve));
      return respond('held');
    },
  }),
})] };`;

const DESCRIPTOR = {
  module: 'hold',
  provider: { kind: 'acme-hold', config: {} },
  limits: { timeout_ms: 20_000 },
  manifest: {
    inline: {
      protocol: 'modgate.manifest.v1',
      module_id: 'hold',
      capabilities: ['hold.use'],
      http_routes: [{ method: 'GET', path: '/{bytes}/{then}', capability: 'hold.use' }],
    },
  },
};

describe('bytes that an adapter holds', () => {
  let folder = '';

  const host = use(() => {
    folder = createFolder();
    writePlugin(folder, { name: 'acme-hold', entry: ENTRY });
    return startHost({
      args: ['--plugins', folder, '--memory-budget', '16MiB', '--actor-budget', String(4 * MIB)],
      files: { 'hold.json': DESCRIPTOR },
    });
  });

  before(async () => {
    await waitUntil('the module', async () => (await get('0/release')).status === 200);
  });

  const get = (path: string, actor = 'alice') => {
    const as = `dev-service:${actor}:hold.use`;
    return call(host, { target: `/modules/hold/http/${path}`, as, headers: [JSON_TYPE] });
  };
  const held = async () => (await scrape(host)).sum('modgate_held_bytes');

  it('count for the memory budget until the call has ended', async () => {
    const waiting = get(`${3 * MIB}/wait`);
    await waitUntil('the held bytes', async () => (await held()) >= 3 * MIB);
    const rejected = expectProblem(await get(`${2 * MIB}/release`), 502);
    expect(reasonOf(rejected, 'failure')).to.equal('overloaded');
    expect(reasonOf(rejected, 'limit')).to.equal('actor-budget');
    expect((await get(`${2 * MIB}/release`, 'bob')).status).to.equal(200);
    expect((await get('0/go', 'bob')).status).to.equal(200);
    expect((await waiting).status).to.equal(200);
    await waitUntil('the release', async () => (await held()) === 0);
  });

  it('are rejected beyond the budget of the host, also alone', async () => {
    const rejected = expectProblem(await get(`${17 * MIB}/release`), 502);
    expect(reasonOf(rejected, 'limit')).to.equal('memory-budget');
    await waitUntil('the release', async () => (await held()) === 0);
  });

  it('are released once, and numbers that are none count nothing', async () => {
    expect((await get(`${MIB}/release`)).status).to.equal(200);
    for (const bytes of ['-5', 'NaN', '1.5']) {
      expect((await get(`${bytes}/release`)).status).to.equal(200);
    }
    await waitUntil('the release', async () => (await held()) === 0);
  });
});
