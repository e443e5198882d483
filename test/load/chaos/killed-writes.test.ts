import { expect } from 'chai';
import type { ConfigField } from '../../../core/contract/index.js';
import { askWrite, configDescriptor, readValues, writeValue } from '../../support/bridge/config.js';
import { runModgate } from '../../support/cli/run-modgate.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';

describe('config_write when the host is killed', () => {
  const WRITES = 20;

  it(`loses none of ${WRITES} acknowledged writes`, async () => {
    const state = createFolder();
    const start = () => {
      const fields = Array.from({ length: WRITES }, (_, n) => ({
        ...{ service: 'conf', key: `k${n}`, type: { kind: 'int' }, editable: true },
      })) as readonly ConfigField[];
      const files = { 'conf.json': configDescriptor('http://127.0.0.1:1', fields) };
      return startHostProcess({ files, args: ['--state', state] });
    };
    let next = 0;
    while (next < WRITES) {
      const host = await start();
      // At a random moment of a write, whose response is then lost.
      const until = next + 10 + Math.floor(Math.random() * 10);
      next = await writeAndKill(host, next, Math.min(until, WRITES));
    }
    const host = await start();
    const values = await readValues(host);
    await host.stop();
    const lost = Object.values(values).filter(({ key, desired_value }) => {
      return desired_value !== Number(key.slice(1));
    });
    expect(lost).to.deep.equal([]);
    const verified = await runModgate(['audit', '--state', state, '--verify']);
    expect(verified.code, verified.stdout).to.equal(0);
  });
});

/** @returns the first unacknowledged value */
async function writeAndKill(host: HostProcess, first: number, end: number): Promise<number> {
  for (let n = first; n < end; n += 1) await writeValue(host, `k${n}`, n);
  const unheard = askWrite(host, 'k0', 0).catch(() => null);
  await host.kill();
  await unheard;
  return end;
}
