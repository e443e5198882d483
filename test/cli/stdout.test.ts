import { type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MAIN } from '../support/main-file.js';
import { createFolder } from '../support/temporary-folder.js';

describe('stdout of a command', () => {
  it('ends the command with a failure on a full disk', function () {
    if (process.platform !== 'linux') this.skip();
    const full = openSync('/dev/full', 'w');
    try {
      const stdio: StdioOptions = ['ignore', full, 'pipe'];
      const { status, stderr } = spawnSync(process.execPath, [MAIN, '--help'], { stdio });
      expect(String(stderr)).to.equal('modgate: stdout cannot be written (ENOSPC)\n');
      expect(status).to.equal(1);
    } finally {
      closeSync(full);
    }
  });

  it('ends the command with a failure if it takes only a part of the text', function () {
    if (process.platform === 'win32') this.skip();
    const file = join(createFolder({}), 'help.txt');
    const command = 'ulimit -f 1; exec "$0" "$1" serve --help > "$2"';
    const args = ['-c', command, process.execPath, MAIN, file];
    const { status, stderr } = spawnSync('sh', args);
    expect(String(stderr)).to.equal('modgate: stdout cannot be written (EFBIG)\n');
    expect(status).to.equal(1);
    expect(statSync(file).size).to.be.lessThan(2000);
  });

  it('ends the command without a failure if its reader closes it', async () => {
    const stdio: StdioOptions = ['ignore', 'pipe', 'inherit'];
    const child = spawn(process.execPath, [MAIN, 'serve', '--help'], { stdio });
    child.stdout?.destroy();
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });
});
