import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  askBridge,
  createDescriptor,
  createManifest,
  httpProvider,
} from '../../support/bridge/bridge.js';
import { SYNC } from '../../support/bridge/crm.js';
import { answerJson, type ScriptedProvider, startProvider } from '../../support/provider.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

describe('console bridge: actions on each kind', () => {
  const LOCAL = `
export default async ({ kind, action, input }, { actor }) => ({
  status: 200,
  body: { kind, action, input, actor: actor.kind + ':' + actor.id },
});
`;
  const MANIFEST = createManifest('acting', {
    capabilities: [SYNC],
    admin: { actions: [{ name: 'act', capability: SYNC, invoke_path: '/act' }] },
  });
  let folder: string;
  let overTcp: ScriptedProvider;
  let overSocket: ScriptedProvider;
  let host: RunningHost;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'modgate-bridge-'));
    const socketPath = join(folder, 'act.sock');
    overTcp = await startProvider(answerJson({ done: true }));
    overSocket = await startProvider(answerJson({ done: true }), { socketPath });
    const describeKind = (kind: string, provider: object) =>
      createDescriptor(kind, MANIFEST, [SYNC], { provider });
    host = await startHost({
      files: {
        'http.json': describeKind('http', httpProvider(overTcp.url)),
        'unix.json': describeKind('unix', { kind: 'unix', config: { socket: socketPath } }),
        'local.json': describeKind('local', { kind: 'local', config: { file: './local/act.mjs' } }),
        'local/act.mjs': LOCAL,
      },
    });
  });

  after(async () => {
    await host.stop();
    await overTcp.stop();
    await overSocket.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = (module: string) =>
    askBridge(host, {
      module,
      permission: SYNC,
      token: 'dev-user:ada:console.admin',
      payload: { operation: 'admin_action_invoke', action: 'act', input: { a: 1 } },
    });

  it('reaches a provider of kind http and of kind unix', async () => {
    for (const [kind, provider] of [
      ['http', overTcp],
      ['unix', overSocket],
    ] as const) {
      const { text } = await ask(kind);
      expect(text).to.equal('{"data":{"done":true}}');
      const [request] = provider.requests;
      expect(request?.body.toString()).to.equal('{"a":1}');
      expect(request?.headers['modgate-actor']).to.equal('user:ada');
      expect(request?.headers['idempotency-key']).to.be.a('string');
    }
  });

  it('reaches a handler of kind local, with the operator in its context', async () => {
    const { status, text, data } = await ask('local');
    expect(status, text).to.equal(200);
    const expected = { kind: 'admin_action', action: 'act', input: { a: 1 }, actor: 'user:ada' };
    expect(data).to.deep.equal(expected);
  });
});
