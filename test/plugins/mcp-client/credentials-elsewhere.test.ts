import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { authority, server as certificate, stranger } from '../../support/certificates.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { serveFetch } from '../../support/mcp/mcp-server.js';
import { describeTools } from '../../support/mcp/tools-module.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';

const STDIO_SERVER = fileURLToPath(new URL('../../support/mcp/stdio-server.js', import.meta.url));
const SECRET = 'secret-of-the-tools';
const OTHER_SECRET = 'secret-of-the-others';
const TOOLS = ['run', 'quote', 'long', 'environment', 'away'];

const describeModule = (module: string, config: object) =>
  describeTools(config, TOOLS, {
    module,
    provider_errors: 'passthrough',
    records: { capture_bytes: 4096 },
    breaker: { failures: 1000 },
  });

describe('credentials for an MCP server', () => {
  /** It repeats its credential in errors, in the message of a status, and where it redirects to. */
  async function answer(request: Request): Promise<Response> {
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    const { id, method, params } = JSON.parse(await request.text());
    if (id === undefined) return new Response(null, { status: 202 });
    const reply = (body: object) => Response.json({ jsonrpc: '2.0', id, ...body });
    const serverInfo = { name: 'quoting', version: '1' };
    if (method === 'initialize') {
      const capabilities = { tools: {} };
      return reply({ result: { protocolVersion: '2025-11-25', capabilities, serverInfo } });
    }
    if (method === 'tools/list') {
      return reply({ result: { tools: TOOLS.map((name) => ({ name, inputSchema: {} })) } });
    }
    const seen = `you sent ${request.headers.get('authorization')}`;
    if (method !== 'tools/call') return reply({ error: { code: -32_601, message: seen } });
    if (params.name === 'away') {
      return new Response(null, { status: 307, headers: { location: bystander.url } });
    }
    if (params.name === 'long') {
      const message = `you sent ${'.'.repeat(980)}${SECRET}${'.'.repeat(3_000)}${SECRET}`;
      return reply({ error: { code: -32_602, message } });
    }
    if (params.name === 'quote') return reply({ error: { code: -32_602, message: seen } });
    return reply({ result: { content: [{ type: 'text', text: 'ok' }] } });
  }

  const bystander = use(() => serveFetch(async () => new Response(null, { status: 500 })));
  const server = use(() => serveFetch(answer, 0, certificate));
  const host = use(() => {
    const auth = { bearer: 'env:TOOLS_SECRET' };
    const { url } = server;
    return startHost({
      env: { TOOLS_SECRET: SECRET, OTHER_SECRET },
      files: {
        'authority.pem': authority,
        'stranger.pem': stranger,
        'tools.yaml': describeModule('tools', { url, auth, tls: { ca: './authority.pem' } }),
        'strange.yaml': describeModule('strange', { url, auth, tls: { ca: './stranger.pem' } }),
        'printing.yaml': describeModule('printing', {
          command: [process.execPath, STDIO_SERVER, 'printing'],
          env: { OWN_SECRET: 'env:OTHER_SECRET' },
        }),
      },
    });
  });

  const call = async (module: string, tool: string) => {
    const response = await fetch(`${host.url}/modules/${module}/http/tools/${tool}`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer dev-service:test:tools.use',
        'content-type': 'application/json',
      },
      body: '{}',
    });
    return { status: response.status, text: await response.text() };
  };

  it('are sent over TLS to a server with a certificate of the configured authority', async () => {
    expect((await call('tools', 'run')).status).to.equal(200);
    const sent = server.requests.map(({ headers }) => headers['authorization']);
    expect(new Set(sent)).to.deep.equal(new Set([`Bearer ${SECRET}`]));
  });

  it('are not sent to a server with another certificate', async () => {
    const before = server.requests.length;
    const { status, text } = await call('strange', 'run');
    expect([status, text]).to.satisfy(([code]: [number]) => code === 502 || code === 503);
    expect(server.requests.length).to.equal(before);
  });

  it('do not follow a redirection to another server', async () => {
    expect((await call('tools', 'away')).status).to.equal(502);
    expect(bystander.requests).to.deep.equal([]);
  });

  it('are masked in errors that the server sends back', async () => {
    const { text } = await call('tools', 'quote');
    expect(text).to.include('you sent').and.not.include(SECRET);
    const records = await fetch(`${host.url}/calls?module=tools`, {
      headers: { authorization: 'Bearer dev-service:ops:modgate.calls.read' },
    });
    expect(await records.text())
      .to.include('/tools/quote')
      .and.not.include(SECRET);
    expect(host.output()).to.not.include(SECRET);
  });

  it('are masked in the lines that a process prints', async () => {
    expect((await call('printing', 'run')).status).to.equal(200);
    const lines = () => host.logs().filter(({ msg }) => msg === 'printed');
    await waitUntil(
      'both streams are logged',
      () => new Set(lines().map(({ stream }) => stream)).size === 2,
    );
    expect(host.output()).to.not.include(OTHER_SECRET);
    await waitUntil('a long line is logged', () => lines().some(({ cut }) => cut));
    expect(host.output()).to.include('...[redacted]').and.not.include('.secret-of');
  });

  it('are masked where an error is cut', async () => {
    const { text } = await call('tools', 'long');
    expect(text).to.include('you sent .').and.not.include('.secret-of');
  });
});
