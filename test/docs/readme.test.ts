import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type RunningModgate, startModgate } from '../support/start-host.js';
import { readDocumentedCommands, runDocumented } from './documented-commands.js';

describe('README', () => {
  let directory: string;
  let host: RunningModgate;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'modgate-readme-'));
    cpSync('modules.d', join(directory, 'modules.d'), {
      recursive: true,
      filter: (path) => !path.includes('.status'),
    });
    host = await startModgate([
      ...['serve', '--env', 'development', '--port', '0'],
      ...['--modules', join(directory, 'modules.d'), '--state', join(directory, 'state')],
    ]);
  });

  after(async () => {
    expect(await host.stop('SIGTERM')).to.deep.equal({ code: 0, signal: null });
    rmSync(directory, { recursive: true, force: true });
  });

  for (const { command, output } of readDocumentedCommands('README.md')) {
    it(`runs as written: ${command.slice(0, 90).replaceAll('\n', ' ')}…`, async () => {
      expect(await runDocumented(command, host.url)).to.equal(output);
    });
  }

  it('has commands to run', () => {
    expect(readDocumentedCommands('README.md').length).to.be.greaterThan(6);
  });
});
