import type { IncomingHttpHeaders } from 'node:http';
import { expect } from 'chai';
import { call, ROOT } from '../../support/http/call.js';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { useScriptedProvider } from '../../support/http/use-scripted-provider.js';
import { callTool, listTools } from '../../support/mcp/mcp-call.js';

const FORM = 'application/x-www-form-urlencoded';
const route = (method: string, path: string, operation: object): RouteOptions => ({
  ...{ method, path, capability: 'shop.use', operation },
});
const ROUTES = [
  route('POST', '/orders', {
    operation_id: 'order',
    body_types: [FORM, 'image/*'],
    body_max_bytes: 5000,
    input_schema: { type: 'object', required: ['tea'] },
  }),
  route('DELETE', '/orders', {
    operation_id: 'cancel',
    body: 'optional',
    body_types: ['text/plain'],
  }),
];

describe('media types beside a body of JSON', () => {
  const received: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const setup = useScriptedProvider(
    (url) => {
      const overrides = {
        schemas: { input: 'enforce' },
        limits: { request_bytes: 1000, bytes: { request: 6000 } },
        mcp: { expose: 'all', approve: 'never' },
      };
      const responses = { mode: 'raw' };
      return {
        'shop.json': describeModule('shop', url, ROUTES, overrides),
        'raw.json': describeModule('raw', url, ROUTES, { ...overrides, responses }),
      };
    },
    ['--surfaces', 'mcp'],
  );

  beforeEach(() => {
    received.length = 0;
    setup.answer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      received.push({ headers: request.headers, body: Buffer.concat(parts) });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    });
  });

  const send = (type: string, body: string | Uint8Array, more: object = {}, module = 'shop') => {
    const headers = { 'content-type': type, ...more };
    return setup.fetch(module, '/orders', { method: 'POST', headers, body });
  };
  const reasonOf = async (response: Response) => {
    const { errors } = (await response.json()) as { errors: { field: string; reason: string }[] };
    return [response.status, errors[0]?.field, errors[0]?.reason];
  };

  it('pass as bytes, with what describes them and without a schema', async () => {
    const body = Buffer.from('\u00ff\u0000 not JSON', 'latin1');
    const described = { 'content-encoding': 'gzip', 'content-language': 'de' };
    for (const module of ['shop', 'raw']) {
      const response = await send('Image/PNG; x=1', body, described, module);
      expect(response.status).to.equal(200);
      const answer = (await response.json()) as { data?: unknown };
      expect(module === 'raw' ? answer : answer.data).to.deep.equal({ ok: true });
      const { headers, body: sent } = received.pop() ?? {};
      expect(sent).to.deep.equal(body);
      expect(headers).to.include({ ...described, 'content-type': 'Image/PNG; x=1' });
      expect(headers).not.to.have.property('modgate-deadline-ms');
    }
    expect(await setup.lastCall()).to.include({
      bytes_in: body.length,
      request_sha256: null,
    });
  });

  it('leave JSON checked, by its schema too', async () => {
    expect((await send('application/vnd.shop+json', '{"tea":1}')).status).to.equal(200);
    expect(received[0]?.headers).to.have.property('modgate-deadline-ms');
    expect(await setup.lastCall()).not.to.have.property('request_sha256');
    for (const body of ['{"tea":', '{"cup":1}', '"tea"', '']) {
      expect((await send('application/json', body)).status, body).to.equal(400);
    }
    const encoded = await send('application/json', '{"tea":1}', { 'content-encoding': 'gzip' });
    expect(encoded.status).to.equal(400);
    expect(received).to.have.length(1);
  });

  it('are bounded by body_max_bytes, and JSON by request_bytes', async () => {
    expect((await send(FORM, Buffer.alloc(5000))).status).to.equal(200);
    expect((await send(FORM, Buffer.alloc(5001))).status).to.equal(400);
    const long = JSON.stringify({ tea: 'x'.repeat(1000) });
    expect((await send('application/json', long)).status).to.equal(400);
    const text = { method: 'DELETE', headers: { 'content-type': 'text/plain' } };
    for (const [size, status] of [
      [6000, 200],
      [6001, 400],
    ] as const) {
      const response = await setup.fetch('shop', '/orders', { ...text, body: Buffer.alloc(size) });
      expect(response.status).to.equal(status);
    }
  });

  it('are streamed where the client gives no length', async () => {
    const body = ReadableStream.from([Buffer.alloc(2000, 1), Buffer.alloc(2000, 2)]);
    const init = { method: 'POST', headers: { 'content-type': FORM }, body, duplex: 'half' };
    expect((await setup.fetch('shop', '/orders', init as RequestInit)).status).to.equal(200);
    expect(received[0]?.headers).to.include({ 'transfer-encoding': 'chunked' });
    expect(received[0]?.body).to.have.length(4000);
  });

  it('reject any other type, and name those of the route', async () => {
    for (const type of ['text/plain', `${FORM}, application/json`, 'imagex/png']) {
      expect(await reasonOf(await send(type, 'a=1'))).to.deep.equal([
        ...[400, 'content-type'],
        `expected application/json or application/*+json or ${FORM} or image/*`,
      ]);
    }
    const headers = [['content-type', FORM] as const, ['content-type', FORM] as const];
    const target = '/modules/shop/http/orders';
    const body = Buffer.from('a=1');
    const repeated = await call(setup.host, { method: 'POST', target, headers, body });
    expect(repeated.status).to.equal(400);
    const untyped = { method: 'POST', body: Buffer.from('{"tea":1}') };
    const missing = await setup.fetch('shop', '/orders', untyped);
    expect(await reasonOf(missing)).to.deep.equal([400, 'content-type', 'missing']);
    expect(received).to.have.length(0);
  });

  it('may have no bytes, and no body where it is optional', async () => {
    expect((await send(FORM, '')).status).to.equal(200);
    expect(received[0]?.headers['content-type']).to.equal(FORM);
    const headers = { 'content-type': 'text/plain' };
    for (const more of [{}, { headers }]) {
      const response = await setup.fetch('shop', '/orders', { method: 'DELETE', ...more });
      expect(response.status).to.equal(200);
    }
    expect(received[2]?.headers['content-type']).to.equal('text/plain');
    expect(received.map(({ body }) => body.length)).to.deep.equal([0, 0, 0]);
  });

  it('stand beside JSON in the API description', async () => {
    const authorization = `Bearer ${ROOT}`;
    const response = await fetch(`${setup.host.url}/openapi.json`, { headers: { authorization } });
    const { paths } = (await response.json()) as {
      paths: Record<string, { post: { requestBody: { content: object; required: boolean } } }>;
    };
    const { content, required } = paths['/modules/shop/http/orders']?.post.requestBody ?? {};
    expect(required).to.equal(true);
    expect(Object.keys(content ?? {})).to.deep.equal(['application/json', FORM, 'image/*']);
    expect(content).to.have.nested.property('application/json.schema.required[0]', 'tea');
  });

  it('are explained with what they may be', async () => {
    const target = '/explain?method=POST&target=/modules/shop/http/orders';
    const response = await call(setup.host, { target });
    expect(response.body.toString()).to.include(
      `JSON is checked when it arrives; streamed: ${FORM}, image/*, at most 5000 bytes`,
    );
  });

  it('leave tools that send JSON', async () => {
    const [tool] = await listTools(setup.host, { module: 'shop' });
    expect(tool?.inputSchema).to.have.nested.property('properties.body.required[0]', 'tea');
    const { isError } = await callTool(setup.host, 'shop_order', '{"body":{"tea":1}}');
    expect(isError).not.to.equal(true);
    expect(received[0]?.headers['content-type']).to.equal('application/json');
    expect(received[0]?.body.toString()).to.equal('{"tea":1}');
  });
});
