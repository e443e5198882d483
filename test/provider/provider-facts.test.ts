import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runModgate } from '../support/cli/run-modgate.js';
import { call, parseJson } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { adapterSource, describeKind, writePlugin } from '../support/isolation/write-plugin.js';
import { startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const READER = 'dev-service:ops:modgate.modules.read';
const SECRET = 's3cret-of-the-provider';

/** Facts as a text of JavaScript, and secrets in them. */
const ENTRY = adapterSource('acme-facts', {
  before: `import { readFileSync } from 'node:fs';`,
  provider: `facts: () => (0, eval)(readFileSync(config.facts, 'utf8')),`,
});

interface Fact {
  readonly name: string;
  readonly value: string;
  readonly problem?: boolean;
}

describe('facts of a provider', () => {
  let folder = '';
  let file = '';

  const host = use(() => {
    folder = createFolder();
    file = join(folder, 'facts.js');
    writePlugin(folder, { name: 'acme-facts', entry: ENTRY });
    writeFacts('[]');
    return startHostProcess({ args: ['--plugins', folder, '--workers', '2'] });
  });

  before(async () => {
    const provider = { kind: 'acme-facts', config: { facts: file } };
    host.drop('line.json', describeKind('line', 'acme-facts', { provider }));
    await waitUntil('the module', async () => (await readModule())?.state === 'live');
  });

  function writeFacts(source: string): void {
    writeFileSync(file, source);
  }

  async function readModule() {
    const response = await call(host, { target: '/modules', as: READER });
    const { modules } = parseJson(response) as { modules: { state: string; facts?: Fact[] }[] };
    return modules[0];
  }

  async function status(...args: string[]) {
    return runModgate(['status', '--url', host.url, '--token', READER, ...args]);
  }

  it('are absent for a provider that says nothing', async () => {
    writeFacts('[]');
    expect(await readModule()).to.not.have.property('facts');
    expect((await status('--unhealthy')).code).to.equal(0);
  });

  it('are shown by GET /modules and the command, and a problem is unhealthy', async () => {
    writeFacts(`[
      { name: 'tools', value: '12', more: 1 },
      { name: 'tool add', value: 'changed since it was imported', problem: true },
    ]`);
    expect((await readModule())?.facts).to.deep.equal([
      { name: 'tools', value: '12' },
      { name: 'tool add', value: 'changed since it was imported', problem: true },
    ]);
    const { code, stdout } = await status();
    expect(code).to.equal(0);
    expect(stdout).to.include('\n  tools: 12\n');
    expect(stdout).to.include('\n  problem: tool add: changed since it was imported\n');
    expect(stdout).to.include('1 live, 1 with a problem');
    const unhealthy = await status('--unhealthy');
    expect(unhealthy.code).to.equal(1);
    expect(unhealthy.stdout).to.match(/^line +live/m);
  });

  it('show the problem that one worker has', async () => {
    writeFacts(`(() => {
      const { readFileSync, writeFileSync } = process.getBuiltinModule('node:fs');
      const marker = ${JSON.stringify(join(folder, 'marker'))};
      try { writeFileSync(marker, String(process.pid), { flag: 'wx' }); } catch {}
      const problem = readFileSync(marker, 'utf8') === String(process.pid);
      return [{ name: 'link', value: problem ? 'down' : 'up', problem }, { name: 'n', value: '1' }];
    })()`);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect((await readModule())?.facts).to.deep.equal([
        { name: 'link', value: 'down', problem: true },
        { name: 'n', value: '1' },
      ]);
    }
  });

  it('are escaped, cut, and at most 100', async () => {
    writeFacts(`[
      { name: 'a\\u001b[31m\\u200bb', value: 'two\\nlines' },
      { name: 'n'.repeat(500), value: 'v'.repeat(100000) },
      null, 7, { name: 'no value' }, { value: 'no name' },
      ...Array.from({ length: 200 }, (_, index) => ({ name: 'n' + index, value: 'x' })),
    ]`);
    const facts = (await readModule())?.facts ?? [];
    expect(facts[0]).to.deep.equal({ name: 'a\\u001b[31m\\u200bb', value: 'two\\u000alines' });
    expect(facts[1]?.name).to.equal('n'.repeat(100));
    expect(facts[1]?.value).to.equal('v'.repeat(200));
    expect(facts).to.have.length(96);
  });

  it('of an adapter that fails are a problem', async () => {
    writeFacts(`(() => { throw new TypeError('${SECRET}'); })()`);
    expect((await readModule())?.facts).to.deep.equal([
      { name: 'facts', value: 'cannot be read: TypeError', problem: true },
    ]);
    writeFacts('7');
    expect(await readModule()).to.not.have.property('facts');
  });
});
