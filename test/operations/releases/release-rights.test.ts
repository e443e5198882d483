import { expect } from 'chai';
import { call } from '../../support/http/call.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { buildManifest, describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import {
  CODE_PUBLISHER,
  PUBLISHER,
  readReleases,
  sendJson,
  sendRelease,
} from '../../support/releases.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const ALLOWED = 'env:RELEASE_TOKEN,file:/run/secrets/crm/*';

/** A module that sends a reference to an endpoint. */
const describeSecret = (reference: string, endpoint = 'http://127.0.0.1:1') =>
  describeModule('crm', endpoint, ROUTES, {
    provider: { kind: 'http', config: { endpoints: [endpoint], auth: { bearer: reference } } },
  });
const LOCAL = {
  'local.json': {
    module: 'local',
    provider: { kind: 'local', config: { file: './local.mjs' } },
    manifest: { inline: buildManifest('local', []) },
  },
  'local.mjs': 'export default {};',
};

describe('the rights of a release', () => {
  const setup = useHost(() => ({}), {
    args: ['--modules', 'store:', '--release-references', ALLOWED],
    env: { RELEASE_TOKEN: 'secret-of-the-host', OTHER_TOKEN: 'another-secret' },
  });
  const send = (files: Record<string, string | object>, as = PUBLISHER, overrides: object = {}) =>
    sendRelease(setup.host, files, overrides, as);
  const readActive = async () => ({ base: (await readReleases(setup.host)).active });

  afterEach('no test leaves a canary or an unknown release', async () => {
    expect((await readReleases(setup.host)).canary).to.equal(null);
  });

  it('denies code to a publisher without modgate.releases.code', async () => {
    const before = await readActive();
    const problem = expectProblem(await send(LOCAL, PUBLISHER, before), 403);
    expect(reasonOf(problem, 'scope')).to.equal('modgate.releases.code');
    const command = {
      module: 'run',
      provider: { kind: 'process', config: { command: ['true'] } },
      manifest: { inline: buildManifest('run', []) },
    };
    expectProblem(await send({ 'run.json': command }, PUBLISHER, before), 403);
    expect(await readActive()).to.deep.equal(before);
    expect((await send(LOCAL, CODE_PUBLISHER, before)).status).to.equal(200);
  });

  it('denies references that the hosts do not allow, also to callers that may publish code', async () => {
    const outside = [
      'env:OTHER_TOKEN',
      'env:RELEASE_TOKEN_2',
      'file:/etc/passwd',
      'file:/run/secrets/other',
      'file:/run/secrets/crm',
    ];
    for (const reference of outside) {
      const files = { 'crm.json': describeSecret(reference) };
      const answer = await send(files, CODE_PUBLISHER, await readActive());
      const problem = expectProblem(answer, 403);
      expect(reasonOf(problem, 'crm.json')).to.include(reference);
    }
  });

  it('rejects references that step out of a folder, or are relative', async () => {
    const stepping = [
      'file:/run/secrets/crm/../../../etc/passwd',
      'file:/run/secrets/crm/./token',
      'file:/run/secrets/crm//token',
      'file:secrets/token',
      'file:../token',
    ];
    for (const reference of stepping) {
      const files = { 'crm.json': describeSecret(reference) };
      expectProblem(await send(files, CODE_PUBLISHER, await readActive()), 400);
    }
  });

  it('requires modgate.releases.code where a reference is new, or is sent elsewhere', async () => {
    const files = { 'crm.json': describeSecret('env:RELEASE_TOKEN') };
    expectProblem(await send(files, PUBLISHER, await readActive()), 403);
    expect((await send(files, CODE_PUBLISHER, await readActive())).status).to.equal(200);
    const renamed = { 'crm.json': { ...files['crm.json'], limits: { timeout_ms: 500 } } };
    expect((await send(renamed, PUBLISHER, await readActive())).status).to.equal(200);
    const moved = { 'crm.json': describeSecret('env:RELEASE_TOKEN', 'http://127.0.0.1:2') };
    expectProblem(await send(moved, PUBLISHER, await readActive()), 403);
    const copied = { ...renamed, 'b.json': { ...moved['crm.json'], module: 'b' } };
    expectProblem(await send(copied, PUBLISHER, await readActive()), 403);
  });

  it('does not bring code back for a publisher without the right', async () => {
    const before = await readActive();
    expect((await send(LOCAL, CODE_PUBLISHER, before)).status).to.equal(200);
    const withCode = (await readActive()).base;
    const without = { 'plain.json': describeModule('plain', 'http://127.0.0.1:1', ROUTES) };
    expect((await send(without, PUBLISHER, await readActive())).status).to.equal(200);
    const back = (as: string) => sendJson(setup.host, '/rollback', { release: withCode }, as);
    expectProblem(await back(PUBLISHER), 403);
    expect((await back(CODE_PUBLISHER)).status).to.equal(200);
  });

  it('rejects paths that leave the folder, and files that a descriptor does not find in it', async () => {
    const plain = describeModule('plain', 'http://127.0.0.1:1', ROUTES);
    const base = await readActive();
    const paths = [
      '../evil.json',
      'a/../../evil.json',
      '/etc/evil.json',
      'a//b.json',
      './a.json',
      '.status/a.json',
      'a\\b.json',
      'a\u0000.json',
      '',
      'x'.repeat(300),
    ];
    for (const path of paths) {
      expectProblem(await send({ [path]: plain }, CODE_PUBLISHER, base), 400);
    }
    const clashing = { 'a.json': plain, 'a.json/b.json': plain };
    expectProblem(await send(clashing, CODE_PUBLISHER, base), 400);
    const named = ['/etc/passwd', '../../tokens.json', './missing.json'];
    for (const manifest of named) {
      const problem = expectProblem(
        await send({ 'a.json': { ...plain, manifest } }, CODE_PUBLISHER, base),
        400,
      );
      expect(JSON.stringify(problem)).to.not.include('root:');
    }
    const unpinned = { ...plain, manifest: { url: 'http://127.0.0.1:1/manifest.json' } };
    expectProblem(await send({ 'a.json': unpinned }, CODE_PUBLISHER, base), 400);
  });

  it('rejects a replayed and a reordered publish', async () => {
    const describe = (path: string) => ({
      'a.json': describeModule('a', 'http://127.0.0.1:1', [{ ...ROUTES[0], method: 'GET', path }]),
    });
    const base = await readActive();
    expect((await send(describe('/one'), CODE_PUBLISHER, base)).status).to.equal(200);
    expectProblem(await send(describe('/one'), CODE_PUBLISHER, base), 409, 'conflict');
    const second = await readActive();
    expect((await send(describe('/two'), CODE_PUBLISHER, second)).status).to.equal(200);
    expectProblem(await send(describe('/late'), CODE_PUBLISHER, base), 409, 'conflict');
    expectProblem(await send(describe('/one'), CODE_PUBLISHER, base), 409, 'conflict');
    const { releases, active } = await readReleases(setup.host);
    expect(releases[0]?.release).to.equal(active);
  });

  it('lets one of two concurrent publishers win', async () => {
    const base = await readActive();
    const answers = await Promise.all(
      ['x', 'y', 'z'].map((module) => {
        const files = { [`${module}.json`]: describeModule(module, 'http://127.0.0.1:1', ROUTES) };
        return send(files, CODE_PUBLISHER, base);
      }),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([200, 409, 409]);
  });

  it('rejects more files and bytes than a release may have', async () => {
    const base = await readActive();
    const many = Object.fromEntries(
      Array.from({ length: 10_001 }, (_one, index) => [`f${index}.txt`, '']),
    );
    expectProblem(await send(many, CODE_PUBLISHER, base), 400);
    const large = { 'large.txt': 'x'.repeat(16 * 1024 * 1024 + 1) };
    expectProblem(await send(large, CODE_PUBLISHER, base), 400);
    const larger = { 'larger.txt': 'x'.repeat(19 * 1024 * 1024) };
    expectProblem(await send(larger, CODE_PUBLISHER, base), 400);
  });

  it('rejects bodies that are not a release', async () => {
    const bodies = [
      null,
      [],
      { files: {} },
      { files: { 'a.json': 'not base64!' }, base: null },
      { files: {}, base: 'sha256:1' },
      { files: {}, base: null, note: 'x'.repeat(1001) },
      { files: {}, base: null, least_version: 'newest' },
      { files: {}, base: null, canary: { share: 0 } },
      { files: {}, base: null, canary: { share: 2 } },
      { files: {}, base: null, force: true },
    ];
    for (const body of bodies) expectProblem(await sendJson(setup.host, '/releases', body), 400);
    const lone = { files: {}, ...(await readActive()), canary: { share: 0.1 } };
    expectProblem(await sendJson(setup.host, '/releases', lone), 400);
  });

  it('keeps secrets of the host out of answers', async () => {
    const texts = [
      await call(setup.host, { target: '/releases', as: PUBLISHER }),
      await call(setup.host, { target: '/modules' }),
    ].map(({ body }) => body.toString('utf8'));
    for (const text of texts) expect(text).to.not.include('secret-of-the-host');
  });
});
