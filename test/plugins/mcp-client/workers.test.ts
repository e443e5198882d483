import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { startMcpServer, type TestTool } from '../../support/mcp/mcp-server.js';
import { startHostProcess } from '../../support/start-host.js';
import { use } from '../../support/use.js';

describe('an MCP server behind a host with several workers', () => {
  let tools: readonly TestTool[] = [
    {
      name: 'session',
      call: (_args, { sessionId = '' }) => ({ content: [{ type: 'text', text: sessionId }] }),
    },
  ];

  const server = use(() => startMcpServer(() => tools, { mode: 'sessions' }));
  const host = use(() =>
    startHostProcess({
      args: ['--workers', '2'],
      files: {
        'tools.yaml': {
          apiVersion: 'modgate/v1',
          module: 'tools',
          provider: { kind: 'mcp', config: { url: server.url } },
          manifest: {
            inline: {
              protocol: 'modgate.manifest.v1',
              module_id: 'tools',
              capabilities: ['tools.use'],
              http_routes: [
                {
                  method: 'POST',
                  path: '/tools/session',
                  capability: 'tools.use',
                  operation: { mcp: { tool: 'session', digest: `sha256:${'0'.repeat(64)}` } },
                },
                {
                  method: 'POST',
                  path: '/tools/unpinned',
                  capability: 'tools.use',
                  operation: { mcp: { tool: 'session' } },
                },
              ],
            },
          },
        },
      },
    }),
  );

  /** On a connection of its own, so that calls reach all workers. */
  const call = async (path: string) => {
    const response = await fetch(`${host.url}/modules/tools/http/tools/${path}`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer dev-service:test:tools.use',
        'content-type': 'application/json',
        connection: 'close',
      },
      body: '{}',
    });
    // biome-ignore lint/suspicious/noExplicitAny: the envelope or a Problem
    const { data }: any = await response.json();
    return { status: response.status, session: data?.content[0].text };
  };

  it('has one session for each worker, which its calls share', async () => {
    const sessions = new Set<string>();
    await waitUntil(
      'both workers answer',
      async () => sessions.add((await call('unpinned')).session).size >= 2,
    );
    for (let count = 0; count < 20; count += 1) sessions.add((await call('unpinned')).session);
    expect(sessions.size).to.equal(2);
  });

  it('rejects a changed tool in each worker, and counts its calls together', async () => {
    for (let count = 0; count < 10; count += 1) {
      expect(await call('session')).to.include({ status: 502 });
    }
    const read = async (path: string) => {
      const headers = { authorization: 'Bearer dev-system:ops' };
      return (await fetch(host.url + path, { headers })).text();
    };
    const counted = 'modgate_mcp_changed_tool_calls_total{module="tools"} 10';
    // A scrape does not wait long for a busy worker.
    await waitUntil('the calls are counted', async () =>
      (await read('/metrics')).includes(`${counted}\n`),
    );
    const { modules } = JSON.parse(await read('/modules'));
    expect(modules[0].facts).to.deep.equal([
      { name: 'tools', value: '1' },
      { name: 'tool session', value: 'tool changed since it was imported', problem: true },
    ]);
  });

  it('opens one new session for each worker after the server lost them', async () => {
    server.forgetSessions();
    const sessions = new Set<string>();
    for (let count = 0; count < 30; count += 1) {
      const { status, session } = await call('unpinned');
      expect(status).to.equal(200);
      sessions.add(session);
    }
    expect(sessions.size).to.be.within(1, 2);
    tools = [];
  });
});
