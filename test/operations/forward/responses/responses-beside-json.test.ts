import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ROOT } from '../../../support/http/call.js';
import { describeModule, type RouteOptions } from '../../../support/http/modules.js';
import { useScriptedProvider } from '../../../support/http/use-scripted-provider.js';
import { callTool, listTools } from '../../../support/mcp/mcp-call.js';

const ROUTES: readonly RouteOptions[] = [
  {
    ...{ method: 'GET', path: '/report', capability: 'shop.use' },
    operation: {
      operation_id: 'report',
      response_types: ['text/csv', 'image/*'],
      response_max_bytes: 5000,
      output_schema: { type: 'object' },
    },
  },
  {
    ...{ method: 'GET', path: '/long', capability: 'shop.use' },
    operation: { operation_id: 'long', response_types: ['text/csv'] },
  },
];
const CSV = 'a;b\n1;2\n';
const JSON_TYPE = 'application/json';

describe('media types beside a response of JSON', () => {
  const setup = useScriptedProvider(
    (url) => {
      const overrides = {
        schemas: { output: 'enforce' },
        limits: { response_bytes: 10_000, hold_bytes: 1000 },
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
  let sent: IncomingHttpHeaders = {};
  let method: string | undefined;
  const answer = (type: string | null, body: string | Uint8Array, status = 200, more = {}) =>
    setup.answer((request, response) => {
      ({ headers: sent, method } = request);
      response.writeHead(status, { ...(type !== null && { 'content-type': type }), ...more });
      response.end(body);
    });
  const get = (accept?: string, module = 'shop', path = '/report', more: object = {}) =>
    setup.fetch(module, path, { headers: { ...(accept !== undefined && { accept }), ...more } });
  const dataOf = async (response: Response) => {
    expect(response.status).to.equal(200);
    return ((await response.json()) as { data: unknown }).data;
  };

  it('pass as bytes, whatever the caller accepts', async () => {
    answer('text/csv; charset=utf-8', CSV, 201, { etag: '"7"' });
    for (const module of ['shop', 'raw']) {
      for (const accept of ['text/csv', '*/*', JSON_TYPE]) {
        const response = await get(accept, module);
        expect(response.status).to.equal(201);
        expect(await response.text()).to.equal(CSV);
        const headers = Object.fromEntries(response.headers);
        expect(headers).to.include({ 'content-type': 'text/csv; charset=utf-8', etag: '"7"' });
        expect(headers).to.include({ 'content-security-policy': "sandbox; default-src 'none'" });
        expect(headers['modgate-status']).to.equal(module === 'raw' ? undefined : 'forwarded');
      }
    }
  });

  it('leave JSON checked and enveloped, by its schema too', async () => {
    answer(JSON_TYPE, '{"tea":1}');
    for (const accept of ['text/csv', JSON_TYPE]) {
      expect(await dataOf(await get(accept))).to.deep.equal({ tea: 1 });
    }
    expect(await (await get('*/*', 'raw')).json()).to.deep.equal({ tea: 1 });
    for (const body of ['{"tea":', '[]']) {
      answer(JSON_TYPE, body);
      expect((await get()).status, body).to.equal(502);
    }
    answer(null, '', 204);
    expect(await dataOf(await get('*/*', 'shop', '/long'))).to.equal(null);
    answer(JSON_TYPE, '{"detail":"gone"}', 404);
    expect((await get()).status).to.equal(502);
    expect((await get('*/*', 'raw')).status).to.equal(404);
  });

  it('leave long JSON streamed, within response_bytes', async () => {
    const long = ['x'.repeat(5000)];
    answer(JSON_TYPE, JSON.stringify(long));
    expect(await dataOf(await get('*/*', 'shop', '/long'))).to.deep.equal(long);
    expect(await (await get('*/*', 'raw', '/long')).json()).to.deep.equal(long);
    answer(JSON_TYPE, JSON.stringify([...long, ...long]));
    for (const path of ['/long', '/report']) {
      const response = await get('*/*', 'shop', path);
      const { errors } = (await response.json()) as { errors: object[] };
      expect(errors).to.deep.include({ field: 'limit', reason: 'limits.response_bytes' });
    }
  });

  it('are 502 where they are not listed, or longer than response_max_bytes', async () => {
    answer('text/html', '<p>');
    const response = await get('text/html');
    expect(response.status).to.equal(502);
    const { detail } = (await response.json()) as { detail: string };
    expect(detail).to.include('JSON and the media types of operation.response_types');
    answer('text/csv', 'x'.repeat(5001), 200, { 'content-length': '5001' });
    const long = (await (await get()).json()) as { errors: object[] };
    expect(long.errors).to.deep.include({ field: 'limit', reason: 'limits.bytes.response' });
  });

  it('are asked for where accept names one of them, otherwise JSON is', async () => {
    answer(JSON_TYPE, '{}');
    const range = { range: 'bytes=0-1' };
    for (const accept of ['text/csv', 'image/png, */*;q=0.1', 'image/*']) {
      await get(accept, 'shop', '/report', range);
      expect(sent).to.include({ accept, ...range });
    }
    for (const accept of ['*/*', 'text/html', 'text/csv;q=0, text/html']) {
      await get(accept, 'shop', '/report', range);
      expect(sent.accept, accept).to.equal(JSON_TYPE);
      expect(sent).not.to.have.property('range');
    }
  });

  it('pass ranges', async () => {
    const headers = { 'content-range': 'bytes 0-1/8' };
    answer('text/csv', 'a;', 206, headers);
    const part = await get('text/csv', 'shop', '/report', { range: 'bytes=0-1' });
    expect([part.status, part.headers.get('content-range')]).to.deep.equal([206, 'bytes 0-1/8']);
    answer('text/csv', '', 416, { 'content-range': 'bytes */8' });
    const none = await get('text/csv', 'shop', '/report', { range: 'bytes=9-' });
    expect([none.status, none.headers.get('content-range')]).to.deep.equal([416, 'bytes */8']);
  });

  it('have a HEAD that reaches the provider, with the length of bytes alone', async () => {
    for (const [type, length] of [
      ['text/csv', '8'],
      [JSON_TYPE, null],
    ] as const) {
      answer(type, '', 200, { 'content-length': '8' });
      const response = await setup.fetch('shop', '/report', { method: 'HEAD' });
      expect(method).to.equal('HEAD');
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.equal(type);
      expect(response.headers.get('content-length')).to.equal(length);
    }
  });

  it('are 426 for HTTP/1.0, which gets JSON otherwise', async () => {
    answer(JSON_TYPE, '{}');
    const ask = async (accept: string) => {
      const socket = connect(setup.host.port, '127.0.0.1');
      const head = `host: localhost\r\nauthorization: Bearer ${ROOT}\r\naccept: ${accept}\r\n\r\n`;
      socket.write(`GET /modules/shop/http/report HTTP/1.0\r\n${head}`);
      let text = '';
      for await (const part of socket) text += String(part);
      return text.split(' ')[1];
    };
    expect(await ask('*/*')).to.equal('200');
    expect(await ask('text/csv')).to.equal('426');
    answer('text/csv', CSV);
    expect(await ask('*/*')).to.equal('502');
  });

  it('stand beside JSON in the API description', async () => {
    const response = await fetch(`${setup.host.url}/openapi.json`, {
      headers: { authorization: `Bearer ${ROOT}` },
    });
    const { paths } = (await response.json()) as {
      paths: Record<string, { get: { responses: Record<string, { content: object }> } }>;
    };
    for (const module of ['shop', 'raw']) {
      const { responses = {} } = paths[`/modules/${module}/http/report`]?.get ?? {};
      const types = Object.keys(responses['200']?.content ?? {});
      expect(types).to.deep.equal([JSON_TYPE, 'text/csv', 'image/*']);
      expect(responses).to.include.keys('2XX', '426');
    }
  });

  it('leave tools that ask for JSON, and fail with bytes', async () => {
    const names = (await listTools(setup.host, { module: 'shop' })).map(({ name }) => name);
    expect(names).to.deep.equal(['shop_report', 'shop_long']);
    answer(JSON_TYPE, '{"tea":1}');
    const answered = await callTool(setup.host, 'shop_report', '{}');
    expect(answered.content[0]?.text).to.equal('{"tea":1}');
    expect(sent.accept).to.equal(JSON_TYPE);
    answer('text/csv', CSV);
    const { isError, content } = await callTool(setup.host, 'shop_report', '{}');
    expect(isError).to.equal(true);
    expect(JSON.stringify(content)).to.include('or of bytes');
  });
});
