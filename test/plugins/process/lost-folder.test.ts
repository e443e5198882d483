import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildManifest, toRoutes } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { command, ECHO } from './child-programs.js';

/** The pauses before the fifth failed start are 0, 0, 100 and 200 ms, less what clocks round. */
const LEAST_MS = 250;

describe('a process whose socket has no folder any more', () => {
  let host: HostProcess | undefined;

  afterEach(async () => {
    await host?.kill();
    host = undefined;
  });

  it('is started again once it has one, with growing pauses', async () => {
    const folder = createFolder();
    const temporary = join(folder, 'tmp');
    mkdirSync(temporary);
    host = await startHostProcess({
      files: { 'child.json': describeChild() },
      env: { TMPDIR: temporary },
    });
    const { url, logs } = host;
    const ask = async () => {
      const response = await fetch(`${url}/modules/child/http/fine`, {
        headers: { authorization: 'Bearer dev-service:caller:use' },
      });
      return (await response.json()) as { status: unknown; data?: { pid: number } };
    };
    const { pid = 0 } = (await ask()).data ?? {};
    renameSync(temporary, join(folder, 'gone'));
    process.kill(pid, 'SIGKILL');
    const listFailed = () =>
      logs().filter(({ reason }) => /^cannot be started again: ENOENT/.test(String(reason)));
    await waitUntil('starts that fail', () => listFailed().length >= 5);
    const [first = 0, , , , fifth = 0] = listFailed().map(({ time }) => Date.parse(String(time)));
    expect(fifth - first).to.be.at.least(LEAST_MS);
    renameSync(join(folder, 'gone'), temporary);
    const countStarts = () => logs().filter(({ msg }) => msg === 'process up').length;
    await waitUntil('another process', () => countStarts() === 2);
    expect((await ask()).data?.pid)
      .to.be.a('number')
      .that.is.not.equal(pid);
  });
});

function describeChild(): object {
  return {
    module: 'child',
    provider: { kind: 'process', config: { command: command(ECHO) } },
    manifest: { inline: buildManifest('child', toRoutes(['GET /fine'], 'use')) },
  };
}
