import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { COMMANDS } from '../../core/cli/commands.js';
import { createProgram, loadCommand } from '../../core/cli/program.js';
import { describeUsageError } from '../../core/cli/run-cli.js';
import { SETTING_NAMES, settingFlag } from '../../core/config/settings.js';
import { runModgate } from '../support/cli/run-modgate.js';

// Relative to dist/test/cli.
const PACKAGE = new URL('../../../package.json', import.meta.url);

describe('modgate', () => {
  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string };
    for (const flag of ['--version', '-V']) {
      expect(await runModgate([flag])).to.deep.equal({
        code: 0,
        stdout: `${version}\n`,
        stderr: '',
      });
    }
  });

  it('prints help that names every command', async () => {
    for (const args of [['--help'], ['-h'], ['help']]) {
      const { code, stdout, stderr } = await runModgate(args);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      for (const { name, summary } of COMMANDS) {
        expect(stdout)
          .to.match(new RegExp(`\\b${name}\\b`))
          .and.include(summary);
      }
    }
  });

  it('prints help on stderr and exits with 2 without a command', async () => {
    const { code, stdout, stderr } = await runModgate([]);
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(stderr).to.include('Usage: modgate');
  });

  it('prints the help of a command, with every setting', async () => {
    for (const args of [
      ['serve', '--help'],
      ['serve', '-h'],
      ['help', 'serve'],
    ]) {
      const { code, stdout } = await runModgate(args);
      expect(code).to.equal(0);
      expect(stdout).to.include('Usage: modgate serve');
      for (const name of SETTING_NAMES) expect(stdout).to.include(`${settingFlag(name)} `);
    }
  });

  it('prints the help of a command with actions, and of an action', async () => {
    const { stdout } = await runModgate(['approvals', '--help']);
    expect(stdout).to.match(/ show .*<ids\.\.\.>.*\n.* approve /);
    for (const args of [
      ['approvals', 'show', '--help'],
      ['help', 'approvals', 'show'],
    ]) {
      const { code, stdout: ofAction } = await runModgate(args);
      expect(code).to.equal(0);
      expect(ofAction).to.include('Usage: modgate approvals show').and.include('--json');
    }
  });

  it('has --json for every command but the script of a shell', async () => {
    for (const { name } of COMMANDS.filter((command) => command.name !== 'completion')) {
      const command = await loadCommand(createProgram(), name);
      const actions = command?.commands ?? [];
      for (const one of actions.length > 0 ? actions : [command]) {
        const options = one?.options.map(({ long }) => long);
        expect(options, `${name} ${one?.name()}`).to.include('--json');
      }
    }
  });

  const REFUSED: readonly (readonly [args: readonly string[], line: string])[] = [
    [['srve'], "unknown command 'srve' (did you mean 'serve'?)"],
    [['srve', '--help'], "unknown command 'srve' (did you mean 'serve'?)"],
    [['help', 'srve'], "unknown command 'srve' (did you mean 'serve'?)"],
    [['--verbose'], "unknown option '--verbose'"],
    [['serve', '--prot', '1'], "unknown option '--prot' (did you mean '--port'?)"],
    [['serve', '--passwrd=hunter2'], "unknown option '--passwrd'"],
    [['serve', 'here'], "too many arguments for 'serve': expected 0 arguments but got 1"],
    [['serve', '--port'], "option '--port <number>' argument missing"],
    [['serve', '--port', '-1'], '--port must be a whole number from 0 to 65535'],
    [['digest'], "missing required argument 'file'"],
    [['releases', 'push', 'x'], 'the action must be one of list, pull'],
    [['sessions', '--url', 'http://127.0.0.1:1', 'end'], "missing required argument 'ids'"],
  ];
  for (const [args, line] of REFUSED) {
    it(`rejects '${args.join(' ')}' with one line and exit 2`, async () => {
      const stderr = `modgate: ${line}\n`;
      expect(await runModgate(args)).to.deep.equal({ code: 2, stdout: '', stderr });
    });
  }
});

describe('describeUsageError', () => {
  it('removes the value after an equals sign', () => {
    for (const value of ["it's", "a'b\nc", '', "x'"]) {
      const line = describeUsageError(`error: unknown option '--tokn=${value}'`);
      expect(line).to.equal("unknown option '--tokn'");
    }
  });

  it('keeps several suggestions', () => {
    const message = "error: unknown option '--drain'\n(Did you mean one of --a, --b?)";
    const expected = "unknown option '--drain' (did you mean '--a' or '--b'?)";
    expect(describeUsageError(message)).to.equal(expected);
  });
});
