import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { buildManifest, describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { CODE_PUBLISHER, readReleases, sendRelease, useWorkspace } from '../../support/releases.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const PEM = KEY.export({ type: 'pkcs8', format: 'pem' }).toString();

const describeTls = (key: string) => {
  const endpoints = ['https://127.0.0.1:1'];
  return describeModule('crm', '', ROUTES, {
    provider: { kind: 'http', config: { endpoints, tls: { cert: './crm.crt', key } } },
  });
};
const describeLocal = (manifest: unknown = { inline: buildManifest('crm', []) }) => ({
  module: 'crm',
  provider: { kind: 'local', config: { file: './code/crm.mjs' } },
  manifest,
});

const describeProcess = (watch: readonly string[]) => ({
  kind: 'process',
  config: { command: ['node', 'a.mjs'], cwd: './', watch },
});

describe('the files of a release', () => {
  const setup = useHost(() => ({}), {
    args: ['--modules', 'store:', '--release-references', 'file:/run/secrets/*,command:node'],
  });
  const workspace = useWorkspace();
  const send = async (files: Record<string, string | object>) => {
    const { active: base } = await readReleases(setup.host);
    return sendRelease(setup.host, files, { base }, CODE_PUBLISHER);
  };
  const expectNothing = async () => {
    expect((await readReleases(setup.host)).releases).to.deep.equal([]);
  };

  it('hold no private key, neither by the command nor by a request', async () => {
    workspace.write('crm.json', describeTls('./crm.key'));
    workspace.write('crm.crt', 'a certificate');
    workspace.write('crm.key', PEM);
    const ended = await workspace.publish(setup.host);
    expect(ended.code).to.equal(1);
    expect(ended.stderr).to.include('crm.key holds a private key').and.include('absolute path');
    const files = { 'crm.json': describeTls('./crm.key'), 'crm.crt': '', 'crm.key': PEM };
    const problem = expectProblem(await send(files), 400);
    expect(reasonOf(problem, 'crm.key')).to.include('holds a private key');
    const inText = { ...describeLocal(), labels: { key: PEM } };
    const hidden = expectProblem(await send({ 'crm.json': inText }), 400);
    expect(reasonOf(hidden, 'crm.json')).to.include('holds a private key');
    await expectNothing();
  });

  it('hold all that a local module imports: one file, without packages that hosts do not have', async () => {
    const manifest = './code/manifest.json';
    const publish = (code: string) =>
      send({
        'crm.json': describeLocal(manifest),
        'code/manifest.json': buildManifest('crm', []),
        'code/crm.mjs': `${code}\nexport default () => ({ status: 204 });`,
        'code/neighbor.mjs': 'export const one = 1;',
      });
    const rejected = [
      ["import { one } from './neighbor.mjs';", './neighbor.mjs'],
      ["export * from '../outside.mjs';", '../outside.mjs'],
      ["import 'no-such-package';", 'no-such-package'],
      ["import '#internal';", '#internal'],
    ];
    for (const [code, name] of rejected) {
      const problem = expectProblem(await publish(`// comment\n${code}`), 400);
      expect(reasonOf(problem, 'crm.json'))
        .to.include(`its file 'code/crm.mjs' imports '${name}'`)
        .and.include('bundle the code into one file');
    }
    const described = { ...describeLocal(manifest), provider: describeProcess(['./a.mjs']) };
    const ofProcess = { 'crm.json': described, 'a.mjs': "import './b.mjs';", 'b.mjs': '' };
    const inFolder = { ...ofProcess, 'code/manifest.json': buildManifest('crm', []) };
    expect(reasonOf(expectProblem(await send(inFolder), 400), 'crm.json'))
      .to.include("'a.mjs' imports './b.mjs'")
      .and.include('list the imported one in watch');
    await expectNothing();
    const accepted = [
      "import fs from 'node:fs'; import { join } from 'path';",
      "/** @type {import('./types.js').One} */ const text = \"import './neighbor.mjs'\";",
      "import manifest from './manifest.json' with { type: 'json' };",
    ];
    for (const code of accepted) {
      const answer = await publish(code);
      expect(answer.status, `${code}: ${answer.body}`).to.equal(200);
    }
  });

  it('hold the files of the folder that a command names', async () => {
    const { active } = await readReleases(setup.host);
    const publish = (watch: readonly string[]) => {
      workspace.write('crm.json', { ...describeLocal(), provider: describeProcess(watch) });
      workspace.write('a.mjs', '');
      return workspace.publish(setup.host, ...(active === null ? [] : ['--base', active]));
    };
    const ended = await publish([]);
    expect(ended.code).to.equal(1);
    expect(ended.stderr).to.include("crm.json: its command names 'a.mjs'").and.include('in watch');
    const listed = await publish(['./a.mjs']);
    expect(listed.code, listed.stderr).to.equal(0);
  });
});
