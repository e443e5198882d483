import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type RunningModgate, startModgate } from '../support/start-host.js';
import { readDocumentedCommands, runDocumented } from './documented-commands.js';

const PAGE = 'docs/console-bridge.md';
const OPERATIONS = [
  'admin_data_list',
  'admin_action_invoke',
  'config_values',
  'config_write',
  'contributions_resolve',
  'modules_metadata',
];
const MAIN = fileURLToPath(new URL('../../core/main.js', import.meta.url));

describe(PAGE, () => {
  const { PATH, MODGATE_STATE } = process.env;
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
    process.env['PATH'] = `${installModgate(join(directory, 'bin'))}${delimiter}${PATH}`;
    process.env['MODGATE_STATE'] = state;
  });

  after(async () => {
    restoreVariable('PATH', PATH);
    restoreVariable('MODGATE_STATE', MODGATE_STATE);
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

/** A folder with a `modgate` that is the one under test. */
function installModgate(folder: string): string {
  mkdirSync(folder);
  const file = join(folder, 'modgate');
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(file, 0o755);
  return folder;
}

function restoreVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
