import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { call } from '../../support/http/call.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { buildManifest, describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { CODE_PUBLISHER, PUBLISHER, readReleases, sendRelease } from '../../support/releases.js';
import { startHost } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { use } from '../../support/use.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const READER = 'dev-service:reader:crm.read';

/** Each names something of the host, which the host does not allow. */
const USES: Readonly<Record<string, { kind: string; config: object; named: string }>> = {
  'a socket': {
    kind: 'unix',
    config: { socket: '/run/other.sock' },
    named: 'socket:/run/other.sock',
  },
  'a program': { kind: 'process', config: { command: ['sh', '-c', 'id'] }, named: 'command:sh' },
  'a program by its path': {
    kind: 'process',
    config: { command: ['/bin/sh', '-c', 'id'] },
    named: 'command:/bin/sh',
  },
  'a file in the arguments of a program': {
    kind: 'process',
    config: { command: ['node', '/opt/other.mjs'] },
    named: 'file:/opt/other.mjs',
  },
  'a working directory': {
    kind: 'process',
    config: { command: ['node', 'a.mjs'], cwd: '/opt/other' },
    named: 'file:/opt/other',
  },
  'code by its path': {
    kind: 'local',
    config: { file: '/opt/other.mjs' },
    named: 'command:/opt/other.mjs',
  },
};

describe('what a release uses of its hosts', () => {
  let folder = '';
  let socket = '';
  let provider: Server;

  const host = use(async () => {
    folder = createFolder();
    socket = join(folder, 'crm.sock');
    provider = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"via":"socket"}');
    });
    await new Promise<void>((resolve) => provider.listen(socket, resolve));
    const references = `socket:${socket},command:node,file:/opt/crm/*`;
    return startHost({ args: ['--modules', 'store:', '--release-references', references] });
  });
  after(async () => {
    provider.close();
  });

  const describeKind = (kind: string, config: object) =>
    describeModule('crm', '', ROUTES, { provider: { kind, config } });
  const send = async (descriptor: object, as = CODE_PUBLISHER) => {
    const { active: base } = await readReleases(host);
    return sendRelease(host, { 'crm.json': descriptor }, { base }, as);
  };

  for (const [name, { kind, config, named }] of Object.entries(USES)) {
    it(`does not hold ${name} that the hosts do not allow`, async () => {
      const problem = expectProblem(await send(describeKind(kind, config)), 403);
      expect(JSON.stringify(problem.errors)).to.include(
        `${named} is not among --release-references`,
      );
    });
  }

  it('does not step out of its folder, and is no socket in it', async () => {
    const outside = [
      describeKind('unix', { socket: '../../../run/docker.sock' }),
      describeKind('unix', { socket: './crm.sock' }),
      describeKind('unix', { socket: `${folder}/../${socket}` }),
      describeKind('process', { command: ['node', '../../a.mjs'] }),
      describeKind('process', { command: ['node'], cwd: '../..' }),
      describeKind('process', { command: ['./a/../../b'] }),
      describeKind('local', { file: '../../a.mjs' }),
    ];
    for (const descriptor of outside) expectProblem(await send(descriptor), 400);
  });

  it('is a new reference, which needs modgate.releases.code, and then is served', async () => {
    const descriptor = describeKind('unix', { socket });
    const problem = expectProblem(await send(descriptor, PUBLISHER), 403);
    expect(reasonOf(problem, 'scope')).to.equal('modgate.releases.code');
    expect(reasonOf(problem, 'crm.json')).to.include('uses credentials of the host');
    expect((await send(descriptor)).status).to.equal(200);
    await waitUntil('the module', async () => {
      const { status } = await call(host, { target: '/modules/crm/http/items', as: READER });
      return status === 200;
    });
    const narrower = { ...descriptor, limits: { timeout_ms: 700 } };
    expect((await send(narrower, PUBLISHER)).status).to.equal(200);
  });

  it('holds code of its own, and programs that the hosts allow, for the right alone', async () => {
    const manifest = { inline: buildManifest('crm', []) };
    const allowed = [
      { module: 'crm', manifest, provider: { kind: 'process', config: { command: ['node'] } } },
      {
        module: 'crm',
        manifest,
        provider: {
          kind: 'process',
          config: { command: ['node', '/opt/crm/a.mjs'], cwd: '/opt/crm/b' },
        },
      },
    ];
    for (const descriptor of allowed) {
      const problem = expectProblem(await send(descriptor, PUBLISHER), 403);
      expect(reasonOf(problem, 'crm.json')).to.include('runs code');
      expect((await send(descriptor)).status, JSON.stringify(descriptor)).to.equal(200);
    }
  });
});
