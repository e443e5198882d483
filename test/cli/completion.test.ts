import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { COMMANDS } from '../../core/cli/commands.js';
import { describeCommands } from '../../core/cli/completion/describe-commands.js';
import { createWorkplace, type Workplace } from '../support/cli/run-in.js';
import { runModgate } from '../support/cli/run-modgate.js';

const execute = promisify(execFile);

describe('modgate completion', () => {
  let place: Workplace;
  let script = '';

  before(async () => {
    place = createWorkplace();
    place.write('modules.d/crm.yaml', '');
    place.write('modern file.txt', '');
    script = place.write('completion.bash', (await runModgate(['completion', 'bash'])).stdout);
  });

  after(() => place.remove());

  /** The completions of bash for the last word. */
  async function complete(...words: string[]): Promise<string[]> {
    const probe = place.write(
      'probe.bash',
      `source ${JSON.stringify(script)}
[ "$(complete -p modgate)" = "complete -F _modgate modgate" ] || exit 9
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _modgate
for word in "\${COMPREPLY[@]}"; do echo "$word"; done`,
    );
    const { stdout } = await execute(
      'bash',
      ['--noprofile', '--norc', probe, 'modgate', ...words],
      {
        cwd: place.folder,
      },
    );
    return stdout.split('\n').filter((word) => word !== '');
  }

  it('completes commands in bash', async () => {
    expect(await complete('')).to.include.members(COMMANDS.map(({ name }) => name));
    expect(await complete('ch')).to.deep.equal(['check']);
    expect(await complete('--v')).to.deep.equal(['--version']);
  });

  it('completes every option of every command in bash', async () => {
    for (const { name, options } of await describeCommands(COMMANDS)) {
      const flags = options.map(({ flag }) => flag);
      expect(await complete(name, '--'), name).to.have.members(flags);
      expect(flags).to.include('--help');
    }
    expect(await complete('check', '--json', '--ag')).to.deep.equal(['--against']);
  });

  it('completes the values of options and arguments in bash', async () => {
    expect(await complete('check', '--format', '')).to.have.members(['text', 'json', 'sarif']);
    expect(await complete('check', '--format', 's')).to.deep.equal(['sarif']);
    expect(await complete('serve', '--env', '')).to.be.an('array');
    expect(await complete('completion', '')).to.have.members(['bash', 'zsh', 'fish']);
    expect(await complete('new', '')).to.have.members([
      'module',
      'plugin',
      'surface',
      'authenticator',
      'signer',
    ]);
    expect(await complete('new', 'module', 'x', '--kind', 'h')).to.deep.equal(['http']);
    expect(await complete('wait', '')).to.deep.equal([]);
    expect(await complete('status', '--url', '')).to.deep.equal([]);
  });

  it('completes paths in bash, with spaces in them', async () => {
    expect(await complete('check', 'mod')).to.have.members(['modules.d', 'modern file.txt']);
    expect(await complete('check', 'modules.d/')).to.deep.equal(['modules.d/crm.yaml']);
    expect(await complete('check', '--json', 'mode')).to.deep.equal(['modern file.txt']);
    expect(await complete('check', '--modules', 'mod')).to.deep.equal(['modules.d']);
    expect(await complete('digest', 'mode')).to.deep.equal(['modern file.txt']);
  });

  it('prints a valid script for bash', async () => {
    const { stderr } = await execute('bash', ['-n', script]);
    expect(stderr).to.equal('');
  });

  for (const shell of ['zsh', 'fish']) {
    it(`names every command and option for ${shell}`, async () => {
      const { code, stdout, stderr } = await runModgate(['completion', shell]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      for (const { name, options } of await describeCommands(COMMANDS)) {
        expect(stdout).to.match(new RegExp(`\\b${name}\\b`));
        for (const { flag } of options) {
          expect(stdout).to.include(shell === 'fish' ? `-l ${flag.slice(2)} ` : `'${flag}`);
        }
      }
    });

    it(`prints a valid script for ${shell}, where it is installed`, async function () {
      const { stdout } = await runModgate(['completion', shell]);
      const file = `${place.folder}/completion.${shell}`;
      writeFileSync(file, stdout);
      const isInstalled = await execute(shell, ['-c', 'true']).then(
        () => true,
        () => false,
      );
      if (!isInstalled) this.skip();
      const { stderr } = await execute(shell, ['-n', file]);
      expect(stderr).to.equal('');
    });
  }

  it('rejects another shell with one line and exit 2', async () => {
    expect(await runModgate(['completion', 'powershell'])).to.deep.equal({
      code: 2,
      stdout: '',
      stderr: 'modgate: <shell> must be one of bash, zsh, fish\n',
    });
  });
});
