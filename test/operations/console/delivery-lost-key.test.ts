import { expect } from 'chai';
import type { ConfigField } from '../../../core/contract/index.js';
import { configDescriptor, readDeliveries, writeValue } from '../../support/bridge/config.js';
import { startEchoProvider } from '../../support/echo-provider.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { useEach } from '../../support/use.js';

const FIELDS: readonly ConfigField[] = [
  { service: 'conf', key: 'size', type: { kind: 'int' }, default: 50, editable: true },
  {
    service: 'conf',
    key: 'token',
    type: { kind: 'string' },
    default: 'a default',
    editable: true,
    sensitive: true,
  },
  { service: 'conf', key: 'made', type: { kind: 'string' }, generated: { bytes: 16 } },
];
const SECRET = 'a secret under the first key';

describe('config delivery with a lost store key', () => {
  let state: string;
  const provider = useEach(startEchoProvider);

  beforeEach(() => {
    state = createFolder();
  });

  const start = (digit: string) =>
    startHost({
      files: { 'conf.json': configDescriptor(provider.url, FIELDS) },
      args: ['--state', state],
      env: { MODGATE_STORE_KEY: digit.repeat(64) },
    });
  const waitFor = (revision: number) =>
    waitUntil(`revision ${revision} to come`, () => {
      return readDeliveries(provider).at(-1)?.revision === revision;
    });

  it('delivers all other values and logs the names of the lost ones', async () => {
    const first = await start('a');
    await writeValue(first, 'token', SECRET);
    await waitFor(1);
    expect(readDeliveries(provider).at(-1)?.values).to.include({ 'conf/token': SECRET });
    await first.stop();

    const second = await start('b');
    try {
      await writeValue(second, 'size', 60);
      await waitFor(2);
      expect(readDeliveries(provider).at(-1)?.values).to.deep.equal({ 'conf/size': 60 });
      // Lines are written some milliseconds later.
      await waitUntil('the lost values to be named', () => namesOfUnusable(second).length > 0);
      expect(namesOfUnusable(second)).to.have.members(['conf/token', 'conf/made']);
      expect(second.output()).to.not.include(SECRET);
    } finally {
      await second.stop();
    }
  });
});

function namesOfUnusable(host: RunningHost): string[] {
  const unusable = host.logs().flatMap((line) => line['unusable'] ?? []);
  return unusable.map((error) => (error as { field: string }).field);
}
