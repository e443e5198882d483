import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type RunningModgate, startModgate } from '../support/start-host.js';
import { readDocumentedCommands, runDocumented } from './documented-commands.js';
import { installModgate } from './install-modgate.js';

const PAGE = 'docs/console-bridge.md';
const OPERATIONS = [
  'admin_data_list',
  'admin_action_invoke',
  'config_values',
  'config_write',
  'contributions_resolve',
  'modules_metadata',
];

describe(PAGE, () => {
  const { MODGATE_STATE } = process.env;
  let uninstall = () => {};
  let directory: string;
  let host: RunningModgate;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'modgate-docs-'));
    cpSync('modules.d', join(directory, 'modules.d'), {
      recursive: true,
      filter: (path) => !path.includes('.status'),
    });
    const state = join(directory, 'state');
    host = await startModgate([
      ...['serve', '--env', 'development', '--port', '0'],
      ...['--modules', join(directory, 'modules.d'), '--state', state],
    ]);
    uninstall = installModgate(join(directory, 'bin'));
    process.env['MODGATE_STATE'] = state;
  });

  after(async () => {
    uninstall();
    if (MODGATE_STATE === undefined) delete process.env['MODGATE_STATE'];
    else process.env['MODGATE_STATE'] = MODGATE_STATE;
    expect(await host.stop('SIGTERM')).to.deep.equal({ code: 0, signal: null });
    rmSync(directory, { recursive: true, force: true });
  });

  const commands = readDocumentedCommands(PAGE);

  for (const { command, output } of commands) {
    it(`runs as written: ${nameCommand(command)}`, async () => {
      expect(await runDocumented(command, host.url)).to.equal(output);
    });
  }

  for (const operation of OPERATIONS) {
    it(`shows ${operation}, and that it succeeds`, () => {
      const shown = commands.filter(({ command }) => command.includes(`"${operation}"`));
      expect(shown.some(({ output }) => !output.includes('"/problems/'))).to.equal(true);
    });
  }
});

function nameCommand(command: string): string {
  const operation = /"operation": "(\w+)"/.exec(command)?.[1];
  return `${command.slice(0, 60).replaceAll('\n', ' ')}… ${operation ?? ''}`;
}
