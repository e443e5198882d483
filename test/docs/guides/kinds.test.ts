import { type ChildProcess, spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { NATS_URL, needNats } from '../../plugins/nats/nats-server.js';
import { readDocumentedCommands, runDocumented } from '../../support/docs/documented-commands.js';
import { writeDocumentedFiles } from '../../support/docs/documented-files.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { openHost, type RunningModgate } from '../../support/open-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const EXAMPLE_PROVIDER = fileURLToPath(
  new URL('../../../plugins/nats/example-provider.mjs', import.meta.url),
);
const MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

const PAGES = [
  { page: 'docs/operate/kinds/local.md', files: 2, needsNats: false },
  { page: 'docs/operate/kinds/process.md', files: 3, needsNats: false },
  { page: 'docs/operate/kinds/nats.md', files: 1, needsNats: true },
  { page: 'docs/operate/kinds/mcp.md', files: 3, needsNats: false },
];

for (const { page, files, needsNats } of PAGES) {
  describe(page, () => {
    let directory: string;
    let host: RunningModgate | null = null;
    let provider: ChildProcess | null = null;

    before(async function () {
      if (needsNats) {
        await needNats(this);
        provider = spawn(process.execPath, [EXAMPLE_PROVIDER], {
          stdio: 'inherit',
          env: { ...process.env, NATS_URL },
        });
      }
      directory = createFolder();
      expect(writeDocumentedFiles(page, directory)).to.have.length(files);
      // What the page installs.
      symlinkSync(MODULES, join(directory, 'node_modules'), 'junction');
      host = await openHost([
        ...['serve', '--env', 'development', '--port', '0'],
        ...['--modules', join(directory, 'modules.d'), '--state', join(directory, 'state')],
      ]);
      const { url } = host;
      await waitUntil('the module is live', () => isLive(url));
    });

    after(async () => {
      provider?.kill();
      if (host === null) return;
      expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
    });

    const commands = readDocumentedCommands(page);

    for (const { command, output } of commands) {
      it(`runs as written: ${command.slice(0, 90).replaceAll('\n', ' ')}…`, async () => {
        expect(await runDocumented(command, host?.url ?? '')).to.equal(output);
      });
    }

    it('has a command to run', () => {
      expect(commands).not.to.have.length(0);
    });
  });
}

async function isLive(url: string): Promise<boolean> {
  const response = await fetch(`${url}/modules`, {
    headers: { authorization: 'Bearer dev-system:ops' },
  });
  const { modules } = (await response.json()) as { modules: { state: string }[] };
  return modules[0]?.state === 'live';
}
