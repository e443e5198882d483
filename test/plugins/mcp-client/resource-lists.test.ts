import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { describeLibrary } from '../../support/mcp/library-module.js';
import { serveFetch, type TestServer } from '../../support/mcp/mcp-server.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { started } from '../../support/started.js';

const URI = 'file:///a';

describe('the list of resources of an MCP server', () => {
  let server: TestServer | undefined;
  let host: RunningHost | undefined;
  /** The error of the list; `null` for a good one. */
  let error: object | null = null;
  let status = 200;

  async function answer(request: Request): Promise<Response> {
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    const { id, method, params } = JSON.parse(await request.text());
    if (id === undefined) return new Response(null, { status: 202 });
    const reply = (body: object) => Response.json({ jsonrpc: '2.0', id, ...body });
    const serverInfo = { name: 'library', version: '1' };
    if (method === 'initialize') {
      const capabilities = { resources: {} };
      return reply({ result: { protocolVersion: '2025-11-25', capabilities, serverInfo } });
    }
    if (method === 'resources/list') {
      if (status !== 200) return new Response(null, { status });
      return reply(
        error === null ? { result: { resources: [{ uri: URI, name: 'a' }] } } : { error },
      );
    }
    if (method !== 'resources/read') return reply({ error: { code: -32_601, message: 'no' } });
    return reply({ result: { contents: [{ uri: params.uri, text: 'a text' }] } });
  }

  beforeEach(async () => {
    error = null;
    status = 200;
    server = await serveFetch(answer);
    host = await startHost({
      files: {
        'library.yaml': describeLibrary(server.url, { breaker: { failures: 1000 } }),
      },
    });
  });
  afterEach(() => Promise.all([host?.stop(), server?.stop()]));

  const read = async (uri = URI) => {
    const path = `/modules/library/http/resources/${encodeURIComponent(uri)}`;
    const response = await fetch(started(host).url + path, {
      headers: { authorization: 'Bearer dev-service:test:library.read' },
    });
    const text = await response.text();
    const { errors = [] } = response.status === 502 ? JSON.parse(text) : {};
    const failure = errors.find(({ field }: { field: string }) => field === 'failure')?.reason;
    return { status: response.status, failure };
  };

  for (const code of [-32_603, -32_602]) {
    it(`fails the call, each time, when the server answers it with ${code}`, async () => {
      error = { code, message: 'no list' };
      // The second call does not list again at once.
      for (let count = 0; count < 2; count += 1) {
        expect(await read()).to.deep.equal({ status: 502, failure: 'protocol' });
      }
    });
  }

  it('fails the call as unavailable when the server is not there', async () => {
    status = 503;
    for (let count = 0; count < 2; count += 1) {
      expect(await read()).to.deep.equal({ status: 502, failure: 'unavailable' });
    }
  });

  it('is read again after an error', async () => {
    error = { code: -32_603, message: 'no list' };
    expect((await read()).status).to.equal(502);
    error = null;
    await waitUntil('it is read', async () => (await read()).status === 200);
  });

  it('keeps what it had when a later one fails', async () => {
    expect((await read()).status).to.equal(200);
    error = { code: -32_603, message: 'no list' };
    await waitUntil('it is listed again', async () => (await read('file:///new')).status === 502);
    expect((await read()).status).to.equal(200);
  });
});
