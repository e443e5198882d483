import { expect } from 'chai';
import type { ConfigField } from '../../../core/contract/index.js';
import { type Backend, createPostgresBackend, requirePostgres } from '../../store/backend.js';
import {
  configDescriptor,
  readDeliveries,
  readValues,
  writeValue,
} from '../../support/bridge/config.js';
import { ITEM, useWorkers } from '../../support/cluster/use-workers.js';
import { listWorkers, TIMEOUT_MS, waitForLine } from '../../support/cluster/worker-log.js';
import { call, parseJson } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';

const FIELDS: readonly ConfigField[] = [
  { service: 'conf', key: 'size', type: { kind: 'int' }, default: 50, editable: true },
  { service: 'conf', key: 'made', type: { kind: 'string' }, generated: { bytes: 16 } },
];
const MANY = 12;
const WRITERS = 4;

interface Page {
  readonly calls: readonly { readonly request_id: string }[];
  readonly next_cursor: string | null;
}

describe('workers that share a PostgreSQL store', () => {
  const workers = useWorkers();
  let backend: Backend;

  before(async function () {
    await requirePostgres(this);
    backend = createPostgresBackend();
  });
  after(() => backend?.dispose());

  it('return the same configuration and deliver it once', async () => {
    const host = await workers.start({
      files: { 'conf.json': configDescriptor(workers.provider.url, FIELDS) },
      env: { MODGATE_STORE: backend.url ?? '' },
    });
    const deliveries = () => readDeliveries(workers.provider);
    await waitUntil('the first delivery', () => deliveries().length > 0, TIMEOUT_MS);
    for (let size = 0; size < MANY; size += WRITERS) {
      const sizes = Array.from({ length: WRITERS }, (_, offset) => size + offset);
      await Promise.all(sizes.map((value) => writeValue(host, 'size', value)));
    }
    await waitUntil('the last revision', () => deliveries().at(-1)?.revision === MANY, TIMEOUT_MS);
    const revisions = deliveries().map(({ revision }) => revision);
    expect(revisions).to.deep.equal([...new Set(revisions)].sort((first, other) => first - other));
    const delivered = deliveries().at(-1)?.values['conf/size'];
    for (let count = 0; count < 4; count += 1) {
      expect((await readValues(host))['size']?.desired_value).to.equal(delivered);
    }
    const made = deliveries().map(({ values }) => values['conf/made']);
    expect(new Set(made)).to.have.property('size', 1);
  });
});

describe('workers that keep calls', () => {
  const workers = useWorkers();

  it('list the calls of all workers once, also after one has exited', async () => {
    const host = await workers.start({ args: ['--keep-calls', '1000'] });
    const ids = Array.from({ length: MANY }, (_, number) => `kept-${number}`);
    for (const id of ids) {
      const headers = [['x-request-id', id]] as const;
      expect((await call(host, { target: ITEM, headers })).status).to.equal(200);
    }
    const read = async (query: string) =>
      parseJson(await call(host, { target: `/calls?${query}` })) as unknown as Page;
    /** `null` where the first page comes from memory, since the store cannot be read at the moment. */
    const list = async () => {
      const { calls, next_cursor: cursor } = await read(`limit=${MANY - 1}`);
      if (cursor === null || cursor.includes('-')) return null;
      const { calls: others } = await read(`limit=${MANY}&cursor=${cursor}`);
      return [...calls, ...others].map(({ request_id }) => request_id);
    };
    const isWhole = async () => (await list())?.join() === ids.toReversed().join();
    // A worker writes its own calls before it lists any. A list without gaps from each worker, as connections
    // go to them in turn, shows that every call is in the store.
    await waitUntil(
      'all calls, newest first',
      async () => {
        for (let count = 0; count < 4; count += 1) if (!(await isWhole())) return false;
        return true;
      },
      TIMEOUT_MS,
    );
    const [victim = 0] = listWorkers(host);
    process.kill(victim, 'SIGKILL');
    await waitForLine(host, 'worker ready', 3);
    for (let count = 0; count < 4; count += 1) {
      await waitUntil('the store', async () => (await list()) !== null, TIMEOUT_MS);
      expect(await list()).to.deep.equal(ids.toReversed());
    }
  });
});
