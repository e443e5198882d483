import { expect } from 'chai';
import {
  askBridge,
  createDescriptor,
  createManifest,
  httpProvider,
} from '../support/bridge/bridge.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { readDocumentedBlocks } from '../support/docs/documented-commands.js';
import { call } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';

const PAGE = 'docs/operate/questions.md';
const ROUTES = [{ method: 'GET', path: '/items/{id}', capability: 'shop.read' }];
const SCOPES = [
  'modgate.calls.read',
  'modgate.modules.read',
  'modgate.explain',
  'modgate.releases',
];

/** The exit code and a line of what each command of the page prints. */
const ANSWERS: readonly (readonly [command: string, code: number, line: RegExp])[] = [
  ['calls --since 1d --by', 0, /^service:crm-sync +GET \/items\/\{id\} +2 +0 /m],
  ['calls --since 1d --all', 0, /^\{"at":.*"request_id":"req-1402"/m],
  ['explain --request-id req-1402', 0, /^GET shop \/items\/\{id\} => 403$/m],
  ['calls --status 403', 0, / 403 +shop +GET .*service:crm-sync .* req-1402$/m],
  ['explain --request-id req-1402 --now', 0, /^now +.*403/m],
  ['status --unhealthy', 1, /^down +live .*\n +.*endpoint/m],
  ['calls --status 5xx', 0, /^down +GET \/items\/\{id\} +502 +\d/m],
  ['status', 0, /^shop +live /m],
  ['audit --since', 0, /desk .*restart/],
  ['releases', 0, /./],
];

describe(PAGE, () => {
  const setup = useHost((provider) => ({
    'shop.json': describeModule('shop', provider.url, ROUTES),
    'desk.json': createDescriptor(
      'desk',
      createManifest('desk', {
        capabilities: ['desk.use'],
        admin: {
          actions: [{ name: 'restart', capability: 'desk.use', invoke_path: '/restart' }],
        },
      }),
      ['desk.use'],
      { provider: httpProvider(provider.url) },
    ),
    'down.json': describeModule('down', 'http://127.0.0.1:9', ROUTES, {
      breaker: { failures: 1, open_ms: 60_000 },
    }),
  }));

  before(async () => {
    const ask = (module: string, id: string, as: string) =>
      call(setup.host, {
        target: `/modules/${module}/http/items/1`,
        headers: [['x-request-id', id]],
        as,
      });
    await ask('shop', 'req-1', 'dev-service:crm-sync:shop.read');
    expect((await ask('shop', 'req-1402', 'dev-service:crm-sync:other')).status).to.equal(403);
    const payload = { operation: 'admin_action_invoke', action: 'restart' };
    const acted = await askBridge(setup.host, { module: 'desk', permission: 'desk.use', payload });
    expect(acted.status).to.equal(200);
    for (let count = 0; count < 3; count += 1) await ask('down', 'req-2', 'dev-system:root');
  });

  const commands = readDocumentedBlocks(PAGE)
    .filter(({ kind }) => kind === 'sh')
    .map(({ body }) => body.trim().replace('npx modgate ', ''));

  it('has an answer for each command', () => {
    expect(commands).to.have.length(ANSWERS.length);
  });

  for (const [index, command] of commands.entries()) {
    it(`answers with modgate ${command}`, async () => {
      const [known = '', code, line = /^$/] = ANSWERS[index] ?? [];
      expect(command).to.include(known);
      const { host } = setup;
      const ended = await runModgate(command.split(' '), {
        MODGATE_URL: host.url,
        MODGATE_TOKEN: `dev-user:ops:${SCOPES.join(',')}`,
        MODGATE_STATE: `${host.directory}/state`,
      });
      expect(ended.stdout).to.match(line);
      expect(ended).to.include({ code, stderr: '' });
    });
  }
});
