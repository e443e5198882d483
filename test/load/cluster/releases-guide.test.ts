import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { createGuideFolder, type GuideFolder } from '../../support/docs/guide-folder.js';
import { useFleet } from '../../support/fleet.js';
import { call } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { answerJson, type ScriptedProvider, startProvider } from '../../support/provider.js';
import { PUBLISHER } from '../../support/releases.js';
import type { HostProcess } from '../../support/start-host.js';

const PAGE = 'docs/operate/fleet.md';

/** The code blocks of the section, in order. */
function readBlocks(kind: string): string[] {
  const [, section = ''] = /\n## Releases\n([\s\S]*?)\n## /.exec(readFileSync(PAGE, 'utf8')) ?? [];
  const blocks = section.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, 'g'));
  return [...blocks].map(([, body = '']) => body.trim());
}

describe(`${PAGE}, releases`, () => {
  const fleet = useFleet();
  let folder: GuideFolder;
  let provider: ScriptedProvider;

  before(async () => {
    provider = await startProvider(answerJson({ ok: true }));
  });
  after(() => provider.stop());
  beforeEach(() => {
    folder = createGuideFolder();
    mkdirSync(join(folder.path, 'modules.d'));
  });
  afterEach(() => folder.remove());

  const write = (path: string) => {
    const routes = [{ method: 'GET', path, capability: 'crm.read' }];
    const probation = { probation: { seconds: 3, min_calls: 3 } };
    const text = JSON.stringify(describeModule('crm', provider.url, routes, probation));
    writeFileSync(join(folder.path, 'modules.d', 'crm.json'), text);
  };
  const untilServed = (host: HostProcess, path: string) =>
    waitUntil(`${path} at ${host.url}`, async () => {
      return (await call(host, { target: `/modules/crm/http${path}` })).status === 200;
    });

  it('publishes, reads, goes back and tries on some hosts as documented', async () => {
    const [settings = ''] = readBlocks('yaml');
    const { 'release-references': patterns } = parse(settings) as Record<string, string[]>;
    const args = ['--modules', 'store:', '--release-references', (patterns ?? []).join(',')];
    const hosts = [await fleet.start({ args }), await fleet.start({ args })] as const;
    await fleet.until(hosts[0], 'two hosts', ({ hosts: all }) => {
      return all.length === 2 && all.every(({ state }) => state === 'ready');
    });
    const [publish = '', pull = '', rollback = '', canary = ''] = readBlocks('sh');
    const run = (commands: string) => {
      const localCommands = commands.replace('http://127.0.0.1:3001', hosts[0].url);
      const variables = `export MODGATE_URL=${hosts[0].url} MODGATE_TOKEN=${PUBLISHER}`;
      return folder.run(`set -e\n${variables}\n${localCommands}`);
    };
    write('/none');
    await run('npx modgate publish modules.d');
    write('/first');
    const published = await run(publish);
    const [documented = ''] = readBlocks('text');
    const shape = (text: string) => text.split('\n').map((line) => line.trim().split(/ {2,}/)[1]);
    expect(shape(published).slice(0, 3)).to.deep.equal(shape(documented).slice(0, 3));
    expect(published)
      .to.match(/^[0-9a-f]{12} is active\n/)
      .and.include('first release');
    for (const host of hosts) await untilServed(host, '/first');
    expect(await run(pull)).to.match(/is active already: nothing has changed$/);
    expect(await run(rollback)).to.match(/^[0-9a-f]{12} is active$/);
    for (const host of hosts) await untilServed(host, '/none');

    await run('npx modgate releases pull modules.d --force');
    write('/second');
    const trying = run(canary);
    let isOver = false;
    const calling = (async () => {
      while (!isOver) {
        for (const host of hosts) await call(host, { target: '/modules/crm/http/second' });
      }
    })();
    const tried = await trying.finally(() => {
      isOver = true;
    });
    await calling;
    expect(tried).to.match(/is a canary on host_.*\n(?:.*\n)*.* is active on all hosts: /);
    for (const host of hosts) await untilServed(host, '/second');
  });
});
