import { expect } from 'chai';
import { parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { parseRpc, postMcp } from '../../support/mcp/mcp-call.js';
import { connectClient } from '../../support/mcp/official-clients.js';

const READER = 'dev-service:agent:shop.read';

const ROUTES = [
  { method: 'GET', path: '/items', capability: 'shop.read' },
  { method: 'POST', path: '/items', capability: 'shop.write' },
];
const CRM = [{ method: 'GET', path: '/contacts', capability: 'crm.read' }];
const EXPOSED = { mcp: { expose: 'all' } };

describe('instructions of mcp', () => {
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeModule('shop', url, ROUTES, EXPOSED),
      'crm.json': describeModule('crm', url, CRM, EXPOSED),
      'hidden.json': describeModule('hidden', url, [
        { method: 'GET', path: '/x', capability: 'hidden.read' },
      ]),
    }),
    { args: ['--surfaces', 'mcp'] },
  );

  const read = async (path: string, as: string, mode: 'auto' | 'legacy' = 'auto') => {
    const client = await connectClient(setup.host.url + path, as, { mode });
    const instructions = client.getInstructions() ?? '';
    await client.close();
    return instructions;
  };

  for (const mode of ['auto', 'legacy'] as const) {
    it(`name the modules with tools, and the scopes that the caller lacks (${mode})`, async () => {
      const all = await read('/mcp', READER, mode);
      expect(all).to.include('Modules with tools for you: shop.');
      expect(all).to.include('Other tools need scopes you lack: crm.read, shop.write.');
      expect(all).not.to.include('hidden');
      const own = await read('/mcp/shop', READER, mode);
      expect(own).to.include('need scopes you lack: shop.write.').and.not.to.include('crm');
    });
  }

  it('say that a module has no tools', async () => {
    for (const module of ['typo', 'hidden', 'crm']) {
      const text = await read(`/mcp/${module}`, READER);
      expect(text).to.include(`The module ${module} has no tools for you, or does not exist.`);
      expect(text).to.include('Modules with tools for you: shop.');
      expect(text.includes('crm.read')).to.equal(module === 'crm');
    }
    const text = await read('/mcp', 'dev-service:nobody');
    expect(text).to.include('Modules with tools for you: none.');
  });

  it('name no scopes to a caller who may call everything', async () => {
    const text = await read('/mcp', 'dev-service:agent:shop.read,shop.write,crm.read');
    expect(text).to.include('Modules with tools for you: crm, shop.').and.not.to.include('lack');
  });

  it('are bounded', async () => {
    const as = 'dev-service:agent:shop.read';
    const params =
      '"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}';
    const module = `${'x'.repeat(500)}\u200b`;
    const response = await postMcp(setup.host, {
      ...{ method: 'initialize', as, module, params, revision: '2025-06-18' },
    });
    const { instructions } = parseRpc(response.body).result as { instructions: string };
    expect(instructions).to.have.length.below(1000).and.not.to.include('\u200b');
  });

  it('follow a 401 that says what to do for a client without a token', async () => {
    for (const as of [null, 'wrong']) {
      const response = await postMcp(setup.host, { method: 'tools/list', as });
      expect(response.status).to.equal(401);
      expect(parseJson(response)['next_actions']).to.have.length.above(0);
    }
  });
});
