import { expect } from 'chai';
import { useExchangeHost } from '../../support/auth/use-exchange-host.js';
import { startMcpServer } from '../../support/mcp/mcp-server.js';
import { callOnceOpen } from '../../support/mcp/session-module.js';
import { use } from '../../support/use.js';

const TOOLS = [{ name: 'run', call: () => ({ content: [] }) }];

describe('sessions of actors whose tokens are exchanged', () => {
  const mcp = use(() => startMcpServer(() => TOOLS, { mode: 'sessions' }));
  const setup = useExchangeHost((_describe, server) => {
    const exchange = {
      ...{ issuer: server.url, token_url: server.tokenUrl },
      ...{ client_id: 'gateway', client_secret: 'env:CRM_SECRET' },
    };
    const config = { url: mcp.url, sessions: 'actor', auth: { exchange } };
    return {
      'tools.json': {
        apiVersion: 'modgate/v1',
        module: 'tools',
        callers: ['user'],
        provider: { kind: 'mcp', config },
        limits: { timeout_ms: 60_000 },
        manifest: {
          inline: {
            protocol: 'modgate.manifest.v1',
            module_id: 'tools',
            capabilities: ['crm.read'],
            http_routes: [{ method: 'POST', path: '/tools/run', capability: 'crm.read' }],
          },
        },
      },
    };
  });

  const callNow = async (subject: string) => {
    const token = await setup.tokenOf(subject, { scope: 'crm.read' });
    const response = await fetch(`${setup.host.url}/modules/tools/http/tools/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    return { status: response.status, text: await response.text(), token };
  };

  const call = (subject: string) =>
    callOnceOpen(
      () => callNow(subject),
      ({ text }) => text,
    );

  it('carry the token of their own actor in every request', async () => {
    const calls = await Promise.all(['ann', 'ben', 'ann'].map(call));
    for (const { status, text } of calls) expect(status, text).to.equal(200);
    const bySession = new Map<string, Set<string>>();
    for (const { headers } of mcp.requests) {
      const subject = /^Bearer exchanged-(\w*)-\d+$/.exec(`${headers['authorization']}`)?.[1];
      expect(subject, `${headers['authorization']}`).to.match(/^(?:ann|ben)$/);
      const session = `${headers['mcp-session-id'] ?? ''}`;
      if (session === '') continue;
      bySession.set(session, (bySession.get(session) ?? new Set()).add(`${subject}`));
    }
    expect([...bySession.values()].map((subjects) => [...subjects].join()).sort()).to.deep.equal([
      'ann',
      'ben',
    ]);
    const methods = mcp.requests.map(({ method }) => method);
    expect(methods).to.include.members(['POST', 'GET']);
    const seen = JSON.stringify(mcp.requests);
    for (const { token } of calls) expect(seen).to.not.include(token);
  });
});
