import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { rejectStart } from '../../support/cli/reject-start.js';
import { readDocumentedCommands, runDocumented } from '../../support/docs/documented-commands.js';
import { installModgate } from '../../support/docs/install-modgate.js';
import { call } from '../../support/http/call.js';
import {
  adapterSource,
  CONTRACT_URL,
  describeKind,
  SUPERSTRUCT_URL,
  writePlugin,
} from '../../support/isolation/write-plugin.js';
import { openHost, type RunningModgate } from '../../support/open-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const PAGE = 'docs/operate/plugins.md';
const FILE_BLOCK = /```yaml\n# (\S+)\n([\s\S]*?)```/g;

/** An adapter, and an authenticator that accepts no credentials. */
const ENTRY = adapterSource('acme-echo', {
  before: `import { defineAuthenticator, secretReference } from ${JSON.stringify(CONTRACT_URL)};
import { object } from ${JSON.stringify(SUPERSTRUCT_URL)};`,
}).replace(
  'export default {',
  `export default {
  authenticators: [defineAuthenticator({
    name: 'acme-ldap',
    config: object({ password: secretReference() }),
    open: () => ({ name: 'acme-ldap', authenticate: () => null }),
  })],`,
);

describe(PAGE, () => {
  const { MODGATE_TOKEN } = process.env;
  let restorePath = () => {};
  const cwd = process.cwd();
  const commands = readDocumentedCommands(PAGE);
  const files = [...readFileSync(PAGE, 'utf8').matchAll(FILE_BLOCK)].map(
    ([, name = '', text = '']) => ({ name, text }),
  );
  let directory: string;
  let host: RunningModgate;

  before(async () => {
    directory = realpathSync(createFolder());
    const manifest = { authenticators: ['acme-ldap'] };
    writePlugin(join(directory, 'plugins'), { name: 'acme-echo', manifest, entry: ENTRY });
    writePlugin(join(directory, 'node_modules/@acme'), {
      name: 'modgate-mqtt',
      manifest: { name: 'acme-mqtt', version: '2.1.0', contract: 2, kinds: ['mqtt'] },
      entry: '',
    });
    for (const { name, text } of files) writeFileSync(join(directory, name), text);
    writeFileSync(join(directory, 'tokens.yaml'), 'tokens: []\n');
    mkdirSync(join(directory, 'modules.d'));
    const descriptor = JSON.stringify(describeKind('echo', 'acme-echo'));
    writeFileSync(join(directory, 'modules.d/echo.json'), descriptor);
    restorePath = installModgate(join(directory, 'bin'));
    process.chdir(directory);
  });

  after(async () => {
    process.chdir(cwd);
    restorePath();
    restoreVariable('MODGATE_TOKEN', MODGATE_TOKEN);
    const exit = await host?.stop();
    expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  const mask = (text: string) =>
    text.replaceAll(directory, '/srv/modgate').replace(/"sha256:[0-9a-f]{64}"/g, '"sha256:…"');

  for (const { command, output } of commands) {
    it(`runs as written: ${command.slice(0, 90)}`, async () => {
      if (command.includes('--url')) host = await startEnforced();
      const printed = mask(await runDocumented(command, host?.url ?? 'http://localhost:1'));
      expect(withoutShipped(printed)).to.equal(withoutShipped(output));
    });
  }

  /** Uses the digests of an earlier command of the page. */
  const startEnforced = async () => {
    const integrity = ['--plugin-integrity', 'enforce', '--plugin-digests', 'plugin-digests.json'];
    const started = await openHost([
      ...['serve', '--env', 'development', '--port', '0', '--plugins', 'plugins'],
      ...['--modules', 'modules.d', '--state', 'state', ...integrity],
    ]);
    const answer = await call(started, { target: '/modules/echo/http/x' });
    expect(answer.status).to.equal(200);
    return started;
  };

  it('has commands and files', () => {
    expect(commands.length).to.be.at.least(4);
    expect(files.map(({ name }) => name)).to.deep.equal([
      'modgate.yaml',
      'chain.yaml',
      'surfaces.yaml',
    ]);
  });

  it('has a chain of authenticators that a host starts with', async () => {
    const args = ['serve', '--config', 'chain.yaml', '--port', '0', '--modules', 'modules.d'];
    const chained = await openHost([...args, '--state', 'chained'], { LDAP_PASSWORD: 'a' });
    const target = '/modules/echo/http/x';
    expect((await call(chained, { target, as: 'nobody' })).status).to.equal(401);
    expect(await chained.stop()).to.deep.equal({ code: 0, signal: null });
    const { code, stderr } = await rejectStart([...args, '--state', 'chained']);
    expect(code).to.equal(2);
    expect(stderr).to.include('LDAP_PASSWORD');
  });
});

/** Selects the rows of a table that do not change whenever the host ships another plugin. */
function withoutShipped(text: string): string {
  if (!text.startsWith('NAME')) return text;
  const lines = text.split('\n').filter((line) => /^(?:NAME|acme-| )/.test(line));
  return lines.map((line) => line.replaceAll(/(?<=\S) +/g, ' ')).join('\n');
}

function restoreVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
