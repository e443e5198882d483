import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createWorkplace, type Workplace } from '../support/cli/run-in.js';

// From dist/test/cli.
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SHIPPED = fileURLToPath(new URL('../../plugins', import.meta.url));

const PLUGIN_JSON = {
  name: 'acme',
  version: '1.2.3',
  contract: 1,
  kinds: ['acme'],
  entry: './index.js',
};

/** Responds from memory, as far as the clauses of these tests need it. */
const INDEX = `import { defineAdapter } from 'modgate/contract';
import { any, object } from 'superstruct';
const body = Buffer.from('{}');
export const adapter = defineAdapter({
  kind: 'acme',
  config: object({ known: any() }),
  supports: {},
  open: () => ({
    manifest: async () => Buffer.from('{}'),
    check: async () => { setTimeout(() => { throw new Error('uncaught'); }); await new Promise((resolve) => setTimeout(resolve, 50)); },
    invoke: async () => ({ status: 200, headers: {}, body }),
  }),
});
export default { adapters: [adapter] };`;

const TESTKIT = `import { adapter } from './index.js';
const start = async () => ({ config: { known: 1 }, stop: async () => {} });
export const subjects = [{ adapter, start, except: { 'answer.body': 'it has one of its own' } }];`;

interface Card {
  readonly plugin: object;
  readonly summary: object;
  readonly subjects: readonly {
    readonly subject: string;
    readonly reason: string | null;
    readonly clauses: readonly Record<string, unknown>[];
  }[];
}

describe('modgate test-plugin', () => {
  let place: Workplace;

  before(() => {
    place = createWorkplace();
    place.write('package.json', { type: 'module' });
    symlinkSync(join(ROOT, 'node_modules'), join(place.folder, 'node_modules'));
    writePlugin('acme', INDEX, TESTKIT);
  });

  function writePlugin(folder: string, index: string, testkit: string | null): void {
    place.write(`${folder}/plugin.json`, PLUGIN_JSON);
    // The package of modgate itself, which this folder does not have.
    const linkContract = (text: string) =>
      text.replace('modgate/contract', join(ROOT, 'dist/core/contract/index.js'));
    place.write(`${folder}/index.js`, linkContract(index));
    if (testkit !== null) place.write(`${folder}/testkit.js`, testkit);
  }

  it('prints a scorecard of a valid plugin and exits with 0', async () => {
    const only = 'adapter.brand,request.target,close.sockets';
    const { code, stdout, stderr } = await place.run([
      'test-plugin',
      join(SHIPPED, 'local'),
      '--only',
      only,
    ]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const score = (subject: string) => [
      '',
      `adapter ${subject}`,
      '  ok    adapter\\.brand: is created by defineAdapter for this contract version',
      '  skip  request\\.target: .+',
      '        a handler receives .+',
      '  skip  close\\.sockets: .+',
      '        this transport has no connections',
    ];
    const lines = [...score("'local'"), ...score("'local' \\(2\\)"), ''];
    expect(stdout).to.match(
      new RegExp(
        ["^plugin 'local' \\d+\\.\\d+\\.\\d+", ...lines, '2 passed, 0 failed, 4 skipped', '$'].join(
          '\n',
        ),
      ),
    );
  });

  it('prints passed, failed and skipped clauses as JSON and exits with 1', async () => {
    const only = 'adapter.kind,answer.body,answer.status,readiness.up';
    const { code, stdout } = await place.run(['test-plugin', 'acme', '--only', only, '--json']);
    expect(code).to.equal(1);
    const card = JSON.parse(stdout) as Card;
    expect(card.plugin).to.deep.equal({
      name: 'acme',
      version: '1.2.3',
      folder: join(place.folder, 'acme'),
    });
    expect(card.summary).to.deep.equal({ passed: 1, failed: 2, skipped: 1 });
    const [subject] = card.subjects;
    expect(subject?.subject).to.equal("adapter 'acme'");
    const byId = new Map(subject?.clauses.map((clause) => [clause['id'], clause]));
    expect(byId.get('adapter.kind')).to.deep.include({ status: 'pass', reason: null });
    expect(byId.get('answer.body')).to.deep.include({
      status: 'skip',
      reason: 'it has one of its own',
    });
    expect(byId.get('answer.status')?.['status']).to.equal('fail');
    for (const clause of byId.values()) expect(clause).to.have.property('duration_ms');
    // An uncaught error fails only the clause in which it occurred.
    expect(byId.get('readiness.up')).to.deep.include({
      status: 'fail',
      reason: 'uncaught error: uncaught',
    });
  });

  it('fails an adapter without a subject, and a subject without an export', async () => {
    const testkit = `export const subjects = [{
      authenticator: { name: 'other' },
      start: async () => { throw new Error('down'); },
    }];`;
    writePlugin('untested', INDEX, testkit);
    const args = ['test-plugin', './untested', '--only', 'adapter.kind,authenticator.name'];
    const { code, stdout } = await place.run(args);
    expect(code).to.equal(1);
    expect(stdout).to.include("FAIL  adapter 'acme': testkit.js has no subject for it\n");
    expect(stdout).to.include("FAIL  authenticator 'other': the plugin does not export it\n");
    expect(stdout).to.include('0 passed, 2 failed, 0 skipped\n');
  });

  it('runs every subject of an adapter', async () => {
    const second = `${TESTKIT}
subjects.push({ adapter, start: async () => ({ skip: 'no server' }) });
subjects.push({ ...subjects[0], except: { 'adapter.kind': 'it is the third' } });`;
    writePlugin('several', INDEX, second);
    const args = ['test-plugin', 'several', '--only', 'adapter.kind'];
    const { code, stdout } = await place.run(args);
    const title = 'adapter.kind: .+';
    expect(code).to.equal(0);
    expect(stdout).to.match(
      new RegExp(
        [
          "adapter 'acme'",
          `  ok    ${title}`,
          '',
          "adapter 'acme' \\(2\\)",
          `  skip  ${title}`,
          '        no server',
          '',
          "adapter 'acme' \\(3\\)",
          `  skip  ${title}`,
          '        it is the third',
          '',
          '1 passed, 0 failed, 2 skipped',
        ].join('\n'),
      ),
    );
  });

  it('runs the clauses of an area', async () => {
    const args = ['test-plugin', 'acme', '--only', 'signer.*,adapter.*', '--json'];
    const { stdout } = await place.run(args);
    const [subject] = (JSON.parse(stdout) as Card).subjects;
    const ids = subject?.clauses.map(({ id }) => `${id}`) ?? [];
    expect(ids)
      .to.include('adapter.kind')
      .and.to.satisfy((all: string[]) => all.every((id) => id.startsWith('adapter.')));
  });

  it('finds an installed package by its name', async () => {
    const elsewhere = createWorkplace();
    const installed = join(elsewhere.folder, 'node_modules/@acme/modgate-local');
    cpSync(join(place.folder, 'acme'), installed, { recursive: true });
    elsewhere.write('package.json', { type: 'module' });
    elsewhere.write('node_modules/@acme/modgate-local/package.json', {
      type: 'module',
      exports: './index.js',
    });
    symlinkSync(
      join(ROOT, 'node_modules/superstruct'),
      join(elsewhere.folder, 'node_modules/superstruct'),
    );
    const args = ['test-plugin', '@acme/modgate-local', '--only', 'adapter.kind'];
    const { code, stdout, stderr } = await elsewhere.run(args);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.include('1 passed, 0 failed, 0 skipped');
  });

  it('exits with 1 and one line for a plugin that a host rejects', async () => {
    writePlugin('broken', 'export default { adapters: [{}] };', TESTKIT);
    writePlugin('future', INDEX, TESTKIT);
    const contract = 9;
    place.write('future/plugin.json', { ...PLUGIN_JSON, contract });
    const cases: readonly (readonly [string, RegExp])[] = [
      ['broken', /^modgate: plugin 'acme' exports an adapter that is not branded/],
      ['future', new RegExp(`^modgate: plugin 'acme' is written for contract ${contract}`)],
    ];
    for (const [folder, line] of cases) {
      const { code, stdout, stderr } = await place.run(['test-plugin', folder]);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr)
        .to.match(line)
        .and.match(/^[^\n]+\n$/);
    }
  });

  it('exits with 2 for usage errors', async () => {
    writePlugin('bare', INDEX, null);
    writePlugin('empty', INDEX, 'export const subjects = [];');
    const cases: readonly (readonly [args: readonly string[], line: RegExp])[] = [
      [[], /^modgate: missing required argument 'plugin'\n$/],
      [
        ['nowhere'],
        /^modgate: nowhere is neither a folder nor an installed package with a plugin\.json\n$/,
      ],
      [['../..'], /^modgate: \.\.\/\.\. is neither a folder nor an installed package/],
      [['bare'], /^modgate: .+testkit\.js does not exist: build the plugin/],
      [['empty'], /^modgate: .+testkit\.js must export subjects/],
      [['acme', '--only', 'no.such'], /^modgate: --only must be ids of clauses/],
      [['acme', '--only', 'answers.*'], /^modgate: --only must be ids of clauses/],
      [['acme', '--only', '*'], /^modgate: --only must be ids of clauses/],
    ];
    for (const [args, line] of cases) {
      const { code, stdout, stderr } = await place.run(['test-plugin', ...args]);
      expect({ code, stdout }, stderr).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.match(line);
    }
  });
});
