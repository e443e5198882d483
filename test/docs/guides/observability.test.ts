import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { SETTINGS, settingFlag } from '../../../core/config/settings.js';
import { readDocumentedCommands, runDocumented } from '../../support/docs/documented-commands.js';
import { useExamples } from '../../support/docs/use-examples.js';
import { call } from '../../support/http/call.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { writePlugin } from '../../support/isolation/write-plugin.js';
import { scrape } from '../../support/observability/exposition.js';
import { describeObserved } from '../../support/observability/observed-modules.js';
import { describeOptionalMetrics } from '../../support/observability/optional-metrics.js';
import { DESK_ENTRY } from '../../support/surfaces/desk-surface.js';
import { createFolder } from '../../support/temporary-folder.js';

const PAGE = 'docs/operate/observability.md';
const METRICS = 'docs/reference/metrics.md';
const text = readFileSync(PAGE, 'utf8');
const metrics = readFileSync(METRICS, 'utf8');

/** Names in backquotes of a cell of a table. */
const readNames = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

describe(PAGE, () => {
  const examples = useExamples({ isInstalled: true });

  for (const { command, output } of readDocumentedCommands(PAGE)) {
    it(`runs as written: ${command.slice(0, 90).replaceAll('\n', ' ')}…`, async () => {
      expect(await runDocumented(command, examples.host.url)).to.equal(output);
    });
  }

  it('has commands to run', () => {
    expect(readDocumentedCommands(PAGE)).to.have.length.above(4);
  });

  it('names settings that there are, with their defaults', () => {
    const flags = new Set(text.match(/--(?:log|keep)-[a-z-]+/g));
    const knownFlags = Object.keys(SETTINGS).map(settingFlag);
    expect([...flags]).to.include.members([
      '--keep-calls',
      '--keep-calls-hours',
      '--log-level',
      '--log-success-sample',
    ]);
    for (const flag of flags) expect(knownFlags).to.include(flag);
    expect(SETTINGS.keepCallsHours.default).to.equal('168');
  });
});

describe(`the tables of ${PAGE} and ${METRICS}`, () => {
  const plugins = createFolder();
  const manifest = { kinds: undefined, surfaces: ['desk', 'till'] };
  writePlugin(plugins, { name: 'acme-desk', manifest, entry: DESK_ENTRY });
  const setup = useHost(describeObserved, {
    args: ['--plugins', plugins, '--surfaces', 'desk'],
  });

  before(async () => {
    await call(setup.host, { target: '/modules/shop/http/items' });
    await call(setup.host, { target: '/modules/shop/http/items', as: 'dev-user:ann' });
    await call(setup.host, { target: '/modules/down/http/items' });
    await call(setup.host, { target: '/modules/strict/http/items' });
    await call(setup.host, { target: '/modules/kept/http/items' });
    await call(setup.host, { target: '/desk' });
  });

  it('have every metric with its type and its labels, and no other', async () => {
    const exposed = await scrape(setup.host);
    const names = [...exposed.names].filter((name) => name.startsWith('modgate_'));
    const expected = names.map((name) => {
      const samples = exposed.samples.filter((one) => one.name.startsWith(name));
      const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
      labels.delete('le');
      expect(samples, name).to.not.have.length(0);
      return { name, type: exposed.types.get(name), labels: [...labels].sort() };
    });
    const documented = [...metrics.matchAll(/^\| `(modgate_\w+)` \| (\w+) \| ([^|]*)\|/gm)].map(
      ([, name, type, labels]) => ({ name, type, labels: readNames(labels).sort() }),
    );
    expect(documented).to.have.deep.members([...expected, ...describeOptionalMetrics()]);
  });

  it('have every field of the line of a request, and the example has them in order', async () => {
    const find = () => setup.host.logs().find(({ msg }) => msg === 'request');
    await waitUntil('the line', () => find() !== undefined);
    const fields = Object.keys(find() ?? {});
    const table = /\| field \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(text)?.[1] ?? '';
    const documented = table.split('\n').flatMap((row) => readNames(row.split('|')[1]));
    expect(documented).to.have.members(fields);
    const example = /^\{"level".*$/m.exec(text)?.[0] ?? '{}';
    expect(Object.keys(JSON.parse(example))).to.deep.equal(fields);
  });
});
