import { expect } from 'chai';
import { askBridge, createManifest } from '../../support/bridge/bridge.js';
import { SYNC } from '../../support/bridge/crm.js';
import { useKinds } from '../../support/bridge/use-kinds.js';
import { answerJson } from '../../support/provider.js';

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
  const setup = useKinds({
    manifest: MANIFEST,
    permission: SYNC,
    answer: answerJson({ done: true }),
    local: LOCAL,
  });

  const ask = (module: string) =>
    askBridge(setup.host, {
      module,
      permission: SYNC,
      token: 'dev-user:ada:console.admin',
      payload: { operation: 'admin_action_invoke', action: 'act', input: { a: 1 } },
    });

  it('reaches a provider of kind http and of kind unix', async () => {
    for (const [kind, provider] of [
      ['http', setup.overTcp],
      ['unix', setup.overSocket],
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
