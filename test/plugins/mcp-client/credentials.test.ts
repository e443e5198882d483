import { expect } from 'chai';
import { startMcpServer, type TestServer } from '../../support/mcp/mcp-server.js';
import { describeTools } from '../../support/mcp/tools-module.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { started } from '../../support/started.js';

const CALLER = 'dev-service:caller:tools.use';

describe('requests to an MCP server', () => {
  let server: TestServer | undefined;
  let host: RunningHost | undefined;

  before(async () => {
    server = await startMcpServer(() => [{ name: 'run', call: () => ({ content: [] }) }], {
      mode: 'sessions',
    });
    host = await startHost({
      env: { TOOLS_TOKEN: 'token-of-the-host' },
      files: {
        'tools.yaml': describeTools({ url: server.url, auth: { bearer: 'env:TOOLS_TOKEN' } }, [
          'run',
        ]),
      },
    });
    const response = await fetch(`${host.url}/modules/tools/http/tools/run`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${CALLER}`,
        'content-type': 'application/json; charset=utf-8',
        'x-request-id': 'request-1',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      },
      body: '{}',
    });
    expect(response.status).to.equal(200);
  });
  after(() => Promise.all([host?.stop(), server?.stop()]));

  const sent = () => started(server).requests;

  it('all have the credentials of the host, and none those of the caller', () => {
    expect(sent().length).to.be.above(3);
    const credentials = sent().map(({ headers }) => headers['authorization']);
    expect(new Set(credentials)).to.deep.equal(new Set(['Bearer token-of-the-host']));
    expect(JSON.stringify(sent())).to.not.include(CALLER);
  });

  it('of a call have its actor, ids and trace, and the headers of their own body', () => {
    const call = sent().find(({ text }) => text.includes('tools/call'));
    expect(call?.headers).to.include({
      'modgate-actor': 'service:caller',
      'x-request-id': 'request-1',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    });
    expect(call?.headers['traceparent']).to.match(/^00-0af7651916cd43dd8448eb211c80319c-/);
  });

  it('are logged without the credentials', () => {
    expect(started(host).output()).to.not.include('token-of-the-host');
  });
});
