import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildManifest, toRoutes } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { command, ECHO } from './child-programs.js';

describe('a process whose socket has no folder any more', () => {
  let host: HostProcess | undefined;

  afterEach(async () => {
    await host?.kill();
    host = undefined;
  });

  it('is started again once it has one', async () => {
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
    const listReasons = () =>
      logs()
        .filter(({ msg }) => msg === 'process exited')
        .map(({ reason }) => String(reason));
    await waitUntil('a start that fails', () =>
      listReasons().some((reason) => reason.startsWith('cannot be started again: ENOENT')),
    );
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
