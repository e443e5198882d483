import { execFile } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { COMMANDS } from '../../core/cli/commands.js';
import { createWorkplace, type Workplace } from '../support/cli/run-in.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { DEADLINE_MS } from '../support/http/wait-until.js';
import { MAIN } from '../support/main-file.js';

const execute = promisify(execFile);

describe('modgate complete', () => {
  /** The candidates for the last word. */
  async function complete(...words: string[]): Promise<(string | undefined)[]> {
    const { stdout } = await runModgate(['complete', '--', ...words]);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => line.split('\t')[0]);
  }

  it('lists commands and actions', async () => {
    expect(await complete('')).to.have.members(COMMANDS.map(({ name }) => name));
    expect(await complete('ch')).to.deep.equal(['check']);
    expect(await complete('--v')).to.deep.equal(['--version']);
    const actions = ['list', 'show', 'approve', 'reject'];
    expect(await complete('approvals', '')).to.have.members(actions);
    expect(await complete('approvals', '--url', 'x', 's')).to.deep.equal(['show']);
    expect(await complete('sessions', 'end', '')).to.deep.equal([]);
    expect(await complete('help', 'che')).to.deep.equal(['check']);
  });

  it('lists every option in the help of every command', async () => {
    for (const { name } of COMMANDS) {
      const actions = await complete(name, '');
      const words = actions.includes('list') ? [name, 'list'] : [name];
      const { stdout } = await runModgate([...words, '--help']);
      const flags = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag);
      expect(await complete(...words, '--'), name)
        .to.have.members(flags)
        .and.include('--help');
      expect(await complete(name, '--'), name).to.have.members(flags);
    }
    expect(await complete('releases', 'pull', '--f')).to.deep.equal(['--force']);
    expect(await complete('check', '--json', '--ag')).to.deep.equal(['--against']);
  });

  it('lists the values of options and arguments', async () => {
    expect(await complete('check', '--format', '')).to.have.members(['text', 'json', 'sarif']);
    expect(await complete('check', '--format', 's')).to.deep.equal(['sarif']);
    expect(await complete('check', '--format=s')).to.deep.equal(['--format=sarif']);
    expect(await complete('completion', '')).to.have.members(['bash', 'zsh', 'fish']);
    expect(await complete('new', 'module', 'x', '--kind', 'h')).to.deep.equal(['http']);
    expect(await complete('serve', '--env', 'd')).to.deep.equal(['development']);
    expect(await complete('serve', '--env=p')).to.deep.equal(['--env=production']);
    expect(await complete('wait', '')).to.deep.equal([]);
    expect(await complete('import', '')).to.have.members(['openapi', 'grpc', 'mcp']);
    expect(await complete('import', 'grpc', '--pr')).to.deep.equal(['--proto-path']);
    expect(await complete('import', '--plugins', '/nowhere', 'o')).to.deep.equal(['openapi']);
    expect(await complete('status', '--url', '')).to.deep.equal([]);
    // As bash splits them.
    expect(await complete('serve', '--env', '=', 'p')).to.deep.equal(['--env=production']);
    const url = ['--url', 'http', ':', '//a', ':', '1'];
    expect(await complete('approvals', ...url, 'sh')).to.deep.equal(['show']);
    expect(await complete('publish', '--plugins', 'a', ':', '--no')).to.include('--no-wait');
  });

  it('leaves files and folders to the shell', async () => {
    expect(await complete('check', '--json', 'mod')).to.deep.equal([':file']);
    expect(await complete('check', '--modules', 'mod')).to.deep.equal([':folder']);
    expect(await complete('check', '--modules=mod')).to.deep.equal([':folder']);
    expect(await complete('plugins', 'digest', 'a', '')).to.deep.equal([':folder']);
    expect(await complete('import', 'openapi', 'do')).to.deep.equal([':file']);
    expect(await complete('digest', 'a', '')).to.deep.equal([]);
  });
});

describe('modgate completion', () => {
  let place: Workplace;
  type Probe = (script: string, words: readonly string[], program: string) => string;
  const probes: Readonly<Record<string, Probe>> = {
    bash: (script, words, program) => {
      const split = words.flatMap((word) => (word === '' ? [''] : word.match(/[=:]+|[^=:]+/g)));
      const last = /^[=:]/.test(split.at(-1) ?? '') ? '' : split.at(-1);
      return `source ${script}
[ "$(complete -p modgate)" = "complete -F _modgate modgate" ] || exit 9
COMP_WORDS=(modgate ${split.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${split.length}; _modgate '${program}' '${last}'
for word in "\${COMPREPLY[@]}"; do echo "$word"; done`;
    },
    zsh: (script, words, program) => `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'source zsh-probe ${script}'
zpty -r shell text '*READY*'
zpty -n -w shell $'${program} ${words.join(' ')}\\t'
zpty -r shell text '*END*'
print -r -- "\${\${\${text##*BEGIN}%%END*}//$'\\r'}"`,
    fish: (script, words, program) =>
      `source ${script}; complete -C '${program} ${words.join(' ')}'`,
  };

  /** What an interactive zsh runs first: it prints what would be listed for a tab. */
  const ZSH_PROBE = `PROMPT=
autoload -Uz compinit && compinit -u
source $1
typeset -aU listed
compadd() {
  local -a names prefix
  if [[ \${@[1,(i)(-|--)]} != *-[OAD]' '* ]]; then
    zparseopts -E p:=prefix
    builtin compadd -O names "$@"
    for name in $names; do listed+=("$IPREFIX$prefix[2]\${(Q)name}"); done
  fi
  builtin compadd "$@"
}
probe() { zle complete-word; print -rl -- BEGIN $listed END }
zle -N probe && bindkey '^I' probe && print READY
`;

  before(() => {
    place = createWorkplace();
    place.write('zsh-probe', ZSH_PROBE);
    place.write('modules.d/crm.yaml', '');
    place.write('modern file.txt', '');
    const command = place.write(
      'bin/modgate',
      `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"`,
    );
    chmodSync(command, 0o755);
  });

  async function skipWithout(shell: string, test: Mocha.Context): Promise<string> {
    await execute(shell, ['-c', 'true']).catch(() => test.skip());
    return place.write(`completion.${shell}`, (await runModgate(['completion', shell])).stdout);
  }

  for (const shell of ['bash', 'zsh', 'fish']) {
    it(`prints a valid script for ${shell}, where it is installed`, async function () {
      const script = await skipWithout(shell, this);
      expect((await execute(shell, ['-n', script])).stderr).to.equal('');
    });
  }

  for (const [shell, createProbe] of Object.entries(probes)) {
    it(`completes words and paths in ${shell}, where it is installed`, async function () {
      const script = await skipWithout(shell, this);
      const completeAfter = async (program: string, ...words: string[]) => {
        const { stdout } = await execute(shell, ['-c', createProbe(script, words, program)], {
          cwd: place.folder,
          timeout: DEADLINE_MS,
          killSignal: 'SIGKILL',
          env: {
            ...process.env,
            HOME: place.folder,
            PATH: `${place.folder}/bin:${process.env['PATH']}`,
          },
        });
        const lines = stdout.split('\n').filter((word) => word !== '');
        return lines.map((line) => line.split('\t')[0]?.replace(/\/$/, ''));
      };
      const complete = (...words: string[]) => completeAfter('modgate', ...words);
      expect(await complete('ch')).to.deep.equal(['check']);
      expect(await completeAfter('~/bin/modgate', 'ch')).to.deep.equal(['check']);
      expect(await complete('approvals', 'sh')).to.deep.equal(['show']);
      expect(await complete('check', '--ag')).to.deep.equal(['--against']);
      expect(await complete('serve', '--env', 'd')).to.deep.equal(['development']);
      // What a shell completes: bash splits words at '='.
      const nameValues = (flag: string, ...values: string[]) =>
        values.map((value) => (shell === 'bash' ? value : `${flag}=${value}`));
      for (const word of ['--env=p', '--env=']) {
        expect(await complete('serve', word)).to.include.members(nameValues('--env', 'production'));
      }
      expect(await complete('approvals', '--url', 'http://a:1', 'sh')).to.deep.equal(['show']);
      expect(await complete('wait', '')).to.deep.equal([]);
      expect(await complete('import', '')).to.have.members(['openapi', 'grpc', 'mcp']);
      expect(await complete('import', 'grpc', '--pr')).to.deep.equal(['--proto-path']);
      expect(await complete('import', '--plugins', '/nowhere', 'o')).to.deep.equal(['openapi']);
      const paths = ['modules.d', 'modern file.txt'];
      expect(await complete('check', 'mod')).to.have.members(paths);
      const certificates = await complete('check', '--ca=mod');
      expect(certificates).to.have.members(nameValues('--ca', ...paths));
      const below = paths.map((path) => `~/${path}`);
      expect(await complete('check', '~/mod')).to.have.members(below);
      expect(await complete('check', 'modules.d/')).to.deep.equal(['modules.d/crm.yaml']);
      expect(await complete('check', '--modules', 'mod')).to.deep.equal(['modules.d']);
      if (shell === 'bash') return;
      expect(await completeAfter('A=b modgate', 'ch')).to.deep.equal(['check']);
      expect(await complete('serve', '--env', '"p')).to.deep.equal(['production']);
      expect(await complete('check', '"mod')).to.have.members(paths);
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
