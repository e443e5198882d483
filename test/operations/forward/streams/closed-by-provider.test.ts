import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { describeModule, type RouteOptions } from '../../../support/http/modules.js';
import { useScriptedProvider } from '../../../support/http/use-scripted-provider.js';
import {
  afterOpen,
  NDJSON,
  problemOf,
  readStream,
  SSE,
} from '../../../support/http/use-streams.js';
import { waitUntil } from '../../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../../support/start-host.js';

const route = (method: string, path: string, operation: object = {}): RouteOptions => ({
  method,
  path,
  capability: 'x.use',
  operation,
});
const ROUTES = [
  route('GET', '/json'),
  route('GET', '/events', { stream: 'sse' }),
  route('GET', '/lines', { stream: 'ndjson' }),
  route('GET', '/bytes', { response: 'bytes' }),
  route('POST', '/upload'),
  route('GET', '/kept', { cache: { ttl_ms: 60_000, shared: true } }),
];
/** Longer bodies are streamed. */
const limits = { hold_bytes: 10, hold_request_bytes: 10 };
const END = 'event: modgate.end\ndata: {"reason":"complete"}\n\n';

describe('a response that ends with its connection', () => {
  const setup = useScriptedProvider((url) => {
    const describe = (name: string, overrides: object) =>
      describeModule(name, url, ROUTES, { breaker: { failures: 1000 }, ...overrides });
    const responses = { mode: 'raw' };
    return {
      'held.json': describe('held', {}),
      'streamed.json': describe('streamed', { limits }),
      'raw.json': describe('raw', { responses }),
      'raw-streamed.json': describe('raw-streamed', { responses, limits }),
    };
  });

  const answer = (
    type: string,
    body: string,
    { status = '200 OK', end = 'end', protocol = 'HTTP/1.0' } = {},
  ) =>
    setup.answer(({ socket }: IncomingMessage) => {
      socket.write(`${protocol} ${status}\r\ncontent-type: ${type}\r\n\r\n${body}`, () => {
        if (end === 'end') socket.end();
      });
    });
  /** Resets the connection once the client has what was sent, and calls. */
  const resetAfter = (head: string, sent: Promise<void>) =>
    setup.answer(({ socket }: IncomingMessage) => {
      socket.write(head);
      void sent.then(() => socket.resetAndDestroy());
    });
  const reasonsOf = async (response: Response) => {
    const { errors } = (await response.json()) as { errors: { field: string; reason: string }[] };
    return Object.fromEntries(errors.map(({ field, reason }) => [field, reason]));
  };

  for (const module of ['held', 'streamed', 'raw', 'raw-streamed']) {
    const dataOf = async (response: Response) => {
      const text = await response.text();
      return module.startsWith('raw') ? text : text.slice(text.indexOf('"data":') + 7, -1);
    };

    for (const body of ['{"a": [1, 2, 3, 4]}\n', '[]', '"café au lait"', 'true', ' null ']) {
      for (const protocol of ['HTTP/1.0', 'HTTP/1.1']) {
        it(`is whole where it is ${body.trim()} (${module}, ${protocol})`, async () => {
          answer('application/json', body, { protocol });
          const response = await setup.fetch(module, '/json');
          expect(response.status).to.equal(200);
          expect(await dataOf(response)).to.equal(body);
        });
      }
    }

    for (const body of ['12', '12345678901234567890\n', '', '{"a": [1, 2, 3, 4]', '"café au lai']) {
      it(`is not passed as whole where it is ${body.trim() || 'nothing'} (${module})`, async () => {
        answer('application/json', body);
        const text = await setup
          .fetch(module, '/json')
          .then(async (response) => ({ status: response.status, text: await response.text() }))
          .catch(() => null);
        // A streamed response that turns out bad is cut.
        if (text !== null) expect(text.status).to.equal(502);
        await waitUntil('the call is recorded', async () => {
          const { status, failure } = await setup.lastCall();
          return status === 502 && failure === 'protocol';
        });
      });
    }
  }

  it('passes an error in raw mode: whole JSON, or the status alone', async () => {
    const status = '404 Not Found';
    for (const module of ['raw', 'raw-streamed']) {
      answer('application/problem+json', '{"detail": "unknown"}', { status });
      const problem = await setup.fetch(module, '/json');
      expect([problem.status, await problem.text()]).to.deep.equal([404, '{"detail": "unknown"}']);
      answer('text/html', '<h1>unknown', { status });
      const page = await setup.fetch(module, '/json');
      expect([page.status, await page.text()]).to.deep.equal([404, '']);
    }
  });

  it('is kept where the route has a cache', async () => {
    answer('application/json', '{"a": 1}');
    expect((await setup.fetch('held', '/kept')).headers.get('cache-status')).to.include('miss');
    expect((await setup.fetch('held', '/kept')).headers.get('cache-status')).to.include('hit');
  });

  it('is 502 where it is bytes, with a type and without', async () => {
    for (const type of ['text/plain', 'application/json']) {
      for (const module of ['held', 'raw']) {
        answer(type, '{"a": 1}');
        const response = await setup.fetch(module, '/bytes');
        expect(response.status).to.equal(502);
        expect(await reasonsOf(response)).to.include({ failure: 'protocol' });
      }
    }
  });

  it('is 502 where another transfer coding hides its end', async () => {
    for (const coding of ['gzip', 'x-chunked']) {
      answer(`application/json\r\ntransfer-encoding: ${coding}`, '{"a": 1}');
      expect((await setup.fetch('held', '/json')).status).to.equal(502);
    }
  });

  describe('as a stream of events', () => {
    const first = 'data: 1\n\nid: 2\r\ndata: 2\r\n\r\n';

    it('passes complete events, and drops a part of one', async () => {
      for (const part of ['', 'data: 3', 'data: 3\n']) {
        answer('text/event-stream', first + part);
        const events = await (await setup.fetch('held', '/events', { headers: SSE })).text();
        expect(afterOpen(events)).to.equal(first + END);
        answer('text/event-stream', first + part);
        const raw = await (await setup.fetch('raw', '/events', { headers: SSE })).text();
        expect(raw).to.equal(first);
        await waitUntil('its end is recorded', async () => {
          const { stream_end, status } = await setup.lastCall();
          return stream_end === 'complete' && status === 200;
        });
      }
    });

    it('passes each event before the connection ends', async () => {
      for (const module of ['held', 'raw']) {
        answer('text/event-stream', `${first}data: 3`, { end: 'open' });
        const response = await setup.fetch(module, '/events', { headers: SSE });
        const stream = readStream(response);
        expect(afterOpen(await stream.until('data: 2\r\n\r\n'))).to.equal(first);
        await stream.cancel();
      }
    });

    it('passes complete lines, and a last one that shows its end', async () => {
      const lines = '{"n": 1}\n[2]\n';
      for (const [last, passed] of [
        ['{"n": 3}', '{"n": 3}'],
        ['"three"', '"three"'],
        ['{"n": 3', ''],
        ['33', ''],
        ['', ''],
      ] as const) {
        const end = '{"modgate.end":{"reason":"complete"}}\n';
        answer('application/x-ndjson', lines + last);
        const text = await (await setup.fetch('held', '/lines', { headers: NDJSON })).text();
        expect(afterOpen(text)).to.equal(lines + (passed && `${passed}\n`) + end);
        answer('application/x-ndjson', lines + last);
        const raw = await (await setup.fetch('raw', '/lines', { headers: NDJSON })).text();
        expect(raw).to.equal(lines + passed);
      }
    });

    it('is complete without an event', async () => {
      answer('text/event-stream', '');
      const text = await (await setup.fetch('held', '/events', { headers: SSE })).text();
      expect(afterOpen(text)).to.equal(END);
    });

    it('is cut at a reset', async () => {
      const head = 'HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n';
      for (const module of ['held', 'raw']) {
        let reset = () => {};
        const sent = new Promise<void>((resolve) => {
          reset = resolve;
        });
        resetAfter(head + first, sent);
        const stream = readStream(await setup.fetch(module, '/events', { headers: SSE }));
        await stream.until('data: 2\r\n\r\n');
        reset();
        const text = await stream.end().catch(() => null);
        if (module === 'raw') expect(text).to.equal(null);
        else expect(problemOf(text ?? '')).to.include({ status: 502 });
        await waitUntil('its end is recorded', async () => {
          const { stream_end, failure } = await setup.lastCall();
          return stream_end === 'problem' && failure === 'protocol';
        });
      }
    });
  });
});

const PYTHON = `
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from wsgiref.simple_server import WSGIRequestHandler, make_server

class Plain(BaseHTTPRequestHandler):
    def do_GET(self):
        kind, parts = answer(self.path)
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.end_headers()
        for part in parts: self.wfile.write(part)
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.end_headers()
        self.wfile.write(json.dumps({'length': len(body)}).encode())
    def log_message(self, *_): pass

class Quiet(WSGIRequestHandler):
    def log_message(self, *_): pass

def answer(path):
    if path == '/json': return 'application/json', [b'{"n":', b' 1}']
    if path == '/lines': return 'application/x-ndjson', [b'{"n": 1}\\n', b'{"n": 2}\\n', b'{"n": 3}']
    return 'text/event-stream', [b'data: 1\\n\\n', b'data: 2\\n\\n', b'data: 3\\n\\n']

def application(environ, start):
    kind, parts = answer(environ['PATH_INFO'])
    if environ['REQUEST_METHOD'] == 'POST':
        body = environ['wsgi.input'].read(int(environ.get('CONTENT_LENGTH') or 0))
        kind, parts = 'application/json', [json.dumps({'length': len(body)}).encode()]
    start('200 OK', [('Content-Type', kind)])
    return iter(parts)

plain = ThreadingHTTPServer(('127.0.0.1', 0), Plain)
wsgi = make_server('127.0.0.1', 0, application, handler_class=Quiet)
threading.Thread(target=plain.serve_forever, daemon=True).start()
print(json.dumps([plain.server_port, wsgi.server_port]), flush=True)
wsgi.serve_forever()
`;

describe('a provider in Python that closes after each response', () => {
  const authorization = 'Bearer dev-service:ann:x.use';
  let python: ChildProcess;
  let host: RunningHost;

  before(async function () {
    python = spawn('python3', ['-c', PYTHON], { stdio: ['ignore', 'pipe', 'inherit'] });
    const started = once(python, 'spawn').then(
      () => true,
      () => false,
    );
    if (!(await started) || python.stdout === null) {
      this.skip();
      return;
    }
    const [line] = (await once(createInterface(python.stdout), 'line')) as [string];
    const [plain, wsgi] = JSON.parse(line) as [number, number];
    const describe = (name: string, port: number) =>
      describeModule(name, `http://127.0.0.1:${port}`, ROUTES, { limits });
    host = await startHost({
      files: { 'plain.json': describe('plain', plain), 'wsgi.json': describe('wsgi', wsgi) },
    });
  });

  after(async () => {
    python.kill();
    await host?.stop();
  });

  for (const module of ['plain', 'wsgi']) {
    it(`receives a request that is streamed with its length (${module})`, async () => {
      const body = JSON.stringify('x'.repeat(100_000));
      const response = await fetch(`${host.url}/modules/${module}/http/upload`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body,
      });
      expect(await response.json()).to.deep.include({ data: { length: body.length } });
    });

    it(`passes what it sends (${module})`, async () => {
      const get = async (path: string, accept: string) => {
        const headers = { accept, authorization };
        const response = await fetch(`${host.url}/modules/${module}/http${path}`, { headers });
        return response.text();
      };
      expect(afterOpen(await get('/events', 'text/event-stream'))).to.equal(
        `data: 1\n\ndata: 2\n\ndata: 3\n\n${END}`,
      );
      expect(afterOpen(await get('/lines', 'application/x-ndjson'))).to.equal(
        '{"n": 1}\n{"n": 2}\n{"n": 3}\n{"modgate.end":{"reason":"complete"}}\n',
      );
      expect(await get('/json', 'application/json')).to.include('"data":{"n": 1}');
    });
  }
});
