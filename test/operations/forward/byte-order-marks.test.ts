import { expect } from 'chai';
import { describeModule } from '../../support/http/modules.js';
import { useScriptedProvider } from '../../support/http/use-scripted-provider.js';
import { afterOpen, NDJSON, SSE } from '../../support/http/use-streams.js';

const SCHEMA = { type: 'object', required: ['a'] };
const ROUTES = [
  { method: 'GET', path: '/x', capability: 'x.read' },
  { method: 'POST', path: '/x', capability: 'x.write' },
  {
    method: 'POST',
    path: '/checked',
    capability: 'x.write',
    operation: { input_schema: SCHEMA, output_schema: SCHEMA },
  },
  { method: 'GET', path: '/events', capability: 'x.read', operation: { stream: 'sse' } },
  { method: 'GET', path: '/lines', capability: 'x.read', operation: { stream: 'ndjson' } },
];
const JSON_TYPE = { 'content-type': 'application/json' };
const MARK = Buffer.from('\u{feff}');
const TEXT = `{"a": "${'é'.repeat(100)}"}`;
const MARKED = Buffer.concat([MARK, Buffer.from(TEXT)]);

describe('a byte-order mark before JSON', () => {
  const setup = useScriptedProvider((url) => {
    const describe = (name: string, overrides: object) =>
      describeModule(name, url, ROUTES, overrides);
    const schemas = { input: 'enforce', output: 'enforce' };
    const limits = { hold_bytes: 10, hold_request_bytes: 10 };
    const responses = { mode: 'raw' };
    return {
      'held.json': describe('held', { schemas }),
      'streamed.json': describe('streamed', { limits }),
      'raw.json': describe('raw', { schemas, responses }),
      'raw-streamed.json': describe('raw-streamed', { limits, responses }),
      'errors.json': describe('errors', { provider_errors: 'passthrough' }),
    };
  });
  /** Sends the parts one by one. */
  const answer = (type: string, parts: readonly Uint8Array[], status = 200) => {
    const received: Buffer[] = [];
    setup.answer(async (request, response) => {
      for await (const part of request) received.push(part as Buffer);
      response.writeHead(status, { 'content-type': type }).flushHeaders();
      response.socket?.setNoDelay(true);
      for (const part of parts) await new Promise<unknown>((sent) => response.write(part, sent));
      response.end();
    });
    return received;
  };
  const read = async (module: string, path = '/x', init: RequestInit = {}) => {
    const response = await setup.fetch(module, path, init);
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  for (const module of ['held', 'streamed']) {
    it(`is not in the envelope (${module})`, async () => {
      const single = Array.from(MARKED.subarray(0, 5), (byte) => Uint8Array.of(byte));
      for (const parts of [[MARKED], [MARK, Buffer.from(TEXT)], [...single, MARKED.subarray(5)]]) {
        answer('application/json', parts);
        const { status, bytes } = await read(module);
        expect(status).to.equal(200);
        expect(bytes.toString().endsWith(`"data":${TEXT}}`)).to.equal(true);
      }
    });
  }

  for (const module of ['raw', 'raw-streamed']) {
    it(`passes as it came in raw mode (${module})`, async () => {
      for (const status of [200, 404]) {
        answer('application/json', [MARKED], status);
        const received = await read(module);
        expect(received.status).to.equal(status);
        expect(received.bytes.equals(MARKED)).to.equal(true);
      }
    });
  }

  it('is ignored once, and alone is no JSON', async () => {
    for (const bytes of [MARK, Buffer.concat([MARK, MARKED]), Buffer.from(` \u{feff}${TEXT}`)]) {
      answer('application/json', [bytes]);
      for (const module of ['held', 'raw']) expect((await read(module)).status).to.equal(502);
    }
  });

  it('is not seen by the schemas of a route', async () => {
    for (const module of ['held', 'raw']) {
      const received = answer('application/json', [MARKED]);
      const init = { method: 'POST', headers: JSON_TYPE, body: MARKED };
      expect((await read(module, '/checked', init)).status).to.equal(200);
      expect(Buffer.concat(received).equals(MARKED)).to.equal(true);
      const body = Buffer.concat([MARK, Buffer.from('{"b": 1}')]);
      expect((await read(module, '/checked', { ...init, body })).status).to.equal(400);
    }
  });

  for (const module of ['held', 'streamed', 'raw', 'raw-streamed']) {
    it(`reaches the provider with a request (${module})`, async () => {
      const received = answer('application/json', [Buffer.from('{}')]);
      const init = { method: 'POST', headers: JSON_TYPE, body: MARKED };
      expect((await read(module, '/x', init)).status).to.equal(200);
      expect(Buffer.concat(received).equals(MARKED)).to.equal(true);
    });
  }

  it('does not hide the message of an error', async () => {
    const problem = Buffer.from('\u{feff}{"detail": "no such item"}');
    answer('application/problem+json', [problem], 404);
    const { status, bytes } = await read('errors');
    expect(status).to.equal(404);
    expect(JSON.parse(bytes.toString())).to.include({ detail: 'no such item' });
  });

  it('is dropped before a stream of events in the envelope, and passes in raw mode', async () => {
    for (const [path, type, headers, text] of [
      ['/events', 'text/event-stream', SSE, 'data: 1\n\n'],
      ['/lines', 'application/x-ndjson', NDJSON, '{"n": 1}\n'],
    ] as const) {
      answer(type, [MARK.subarray(0, 1), MARK.subarray(1), Buffer.from(text)]);
      const events = (await read('held', path, { headers })).bytes;
      expect(afterOpen(events.toString()).startsWith(text)).to.equal(true);
      answer(type, [MARK, Buffer.from(text)]);
      const raw = (await read('raw', path, { headers })).bytes;
      expect(raw.equals(Buffer.concat([MARK, Buffer.from(text)]))).to.equal(true);
    }
  });
});
