import { expect } from 'chai';
import type { ConfigField } from '../../../core/contract/index.js';
import { type Backend, createPostgresBackend, requirePostgres } from '../../store/backend.js';
import {
  configDescriptor,
  readDeliveries,
  readValues,
  writeValue,
} from '../../support/bridge/config.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

const FIELDS: readonly ConfigField[] = [
  { service: 'conf', key: 'size', type: { kind: 'int' }, default: 50, editable: true },
  { service: 'conf', key: 'made', type: { kind: 'string' }, generated: { bytes: 16 } },
];

describe('config delivery by two hosts with one PostgreSQL store', () => {
  let backend: Backend;
  let providers: readonly EchoProvider[] = [];
  let hosts: readonly RunningHost[] = [];

  before(async function () {
    await requirePostgres(this);
    backend = createPostgresBackend();
    providers = [await startEchoProvider(), await startEchoProvider()];
    hosts = await Promise.all(
      providers.map(({ url }) => {
        const files = { 'conf.json': configDescriptor(url, FIELDS) };
        return startHost({ files, args: ['--store', backend.url ?? ''] });
      }),
    );
    for (const provider of providers) await waitForRevision(provider, 0);
  });
  after(async () => {
    await Promise.all(hosts.map((host) => host.stop()));
    await Promise.all(providers.map((provider) => provider.close()));
    await backend?.dispose();
  });

  it('delivers the same generated secret to the modules of both', () => {
    const [first, two] = providers.map((provider) => readDeliveries(provider).at(-1)?.values);
    expect(first?.['conf/made']).to.match(/^[0-9a-f]{32}$/);
    expect(two).to.deep.equal(first);
  });

  it('delivers a write on one host to the module of the other', async () => {
    const [first, second] = hosts as readonly [RunningHost, RunningHost];
    for (const [revision, host, size] of [
      [1, first, 60],
      [2, second, 61],
    ] as const) {
      await writeValue(host, 'size', size);
      for (const provider of providers) await waitForRevision(provider, revision);
      for (const provider of providers) {
        expect(readDeliveries(provider).at(-1)?.values['conf/size']).to.equal(size);
      }
      for (const other of hosts) {
        expect((await readValues(other))['size']?.desired_value).to.equal(size);
      }
    }
  });
});

function waitForRevision(provider: EchoProvider, revision: number): Promise<void> {
  return waitUntil(`revision ${revision} to come`, () => {
    return readDeliveries(provider).at(-1)?.revision === revision;
  });
}
