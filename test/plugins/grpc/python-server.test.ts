import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { CAPABILITY, createCaller, describeLibrary } from './library-module.js';
import { LIBRARY_SET } from './library-server.js';

/** An interpreter with grpcio; without it these tests are skipped. */
const { GRPC_PYTHON } = process.env;
const SERVER = fileURLToPath(new URL('library_server.py', LIBRARY_SET));
const LINES = { accept: 'application/x-ndjson' };

const ROUTES = [
  { method: 'POST', path: '/echo', operation: { grpc: 'library.v1.Echo/Echo' } },
  { method: 'POST', path: '/fail', operation: { grpc: 'library.v1.Echo/Fail' } },
  { method: 'POST', path: '/many', operation: { stream: 'ndjson', grpc: 'library.v1.Echo/Many' } },
  { method: 'GET', path: '/metadata', operation: { grpc: 'library.v1.Echo/Metadata' } },
];

describe("a server of Python's grpcio", () => {
  let server: ChildProcess;
  let host: RunningHost;
  let url = '';

  before(async function () {
    if (GRPC_PYTHON === undefined) return this.skip();
    server = spawn(GRPC_PYTHON, [SERVER, fileURLToPath(LIBRARY_SET)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [port] = await once(server.stdout as NodeJS.EventEmitter, 'data');
    url = `grpc://127.0.0.1:${String(port).trim()}`;
    const health = { health: { service: '', interval_ms: 100 } };
    const passthrough = { provider_errors: 'passthrough' };
    host = await startHost({ files: describeLibrary(ROUTES, url, passthrough, health) });
  });

  after(async () => {
    await host?.stop();
    server?.kill();
  });

  const post = (path: string, body: object, headers: object = {}) =>
    createCaller(host.url)(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: headers as Record<string, string>,
    });

  it('gets and returns the same values', async () => {
    const message = {
      aDouble: 1.5,
      anInt64: '-9223372036854775808',
      aUint64: '18446744073709551615',
      aString: 'ä€😀',
      someBytes: 'AAECAw==',
      genre: 'POETRY',
      child: { anInt32: 1 },
      longs: ['1', '9007199254740993'],
      byName: { a: '1' },
      byNumber: { '7': { aBool: true } },
      number: '5',
      maybe: 0,
      at: '2026-01-31T12:00:00.500Z',
      lasting: '1.500s',
      object: { a: [1, null, 'x', { b: true }] },
      value: null,
      any: { '@type': 'type.googleapis.com/library.v1.Book', title: 'Emma' },
      wrappedBool: false,
    };
    const { status, text } = await post('/echo', message);
    expect(status, text).to.equal(200);
    expect(JSON.parse(text).data).to.deep.equal(message);
  });

  it('ends calls with a status', async () => {
    const { status, text } = await post('/fail', { code: 5, message: 'Größe 100%' });
    expect(status).to.equal(404);
    expect(JSON.parse(text).detail).to.equal('Größe 100%');
  });

  it('sends a stream, and sees its end and its cancellation', async () => {
    const { text } = await post('/many', { anInt32: 3 }, LINES);
    expect(text.match(/"anInt32":\d/g)).to.deep.equal([1, 2, 3].map((n) => `"anInt32":${n}`));
    const controller = new AbortController();
    const response = await fetch(`${host.url}/modules/library/http/many`, {
      method: 'POST',
      body: '{"anInt32":1,"aBool":true}',
      headers: {
        ...LINES,
        authorization: `Bearer dev-service:reader:${CAPABILITY}`,
        'content-type': 'application/json',
      },
      signal: controller.signal,
    });
    expect(response.status).to.equal(200);
    controller.abort();
    const isCancelled = async () => {
      const { text: metadata } = await createCaller(host.url)('/metadata');
      return JSON.parse(metadata).data.cancelled === true;
    };
    await waitUntil('the server sees it', isCancelled);
  });

  it('gets the deadline and the metadata', async () => {
    const { text } = await createCaller(host.url)('/metadata');
    const { data } = JSON.parse(text);
    expect(data.left).to.be.within(0.1, 5.1);
    expect(data['modgate-actor']).to.equal('service:reader');
    expect(data['user-agent']).to.equal('modgate');
  });

  const readState = async ({ url }: RunningHost) => {
    const response = await fetch(`${url}/modules`, {
      headers: { authorization: 'Bearer dev-service:ops:modgate.modules.read' },
    });
    const { modules } = (await response.json()) as {
      modules: { endpoints: { state: string }[] }[];
    };
    return modules[0]?.endpoints[0]?.state;
  };

  it('is up or down by its health service', async () => {
    expect(await readState(host)).to.equal('up');
    const health = { health: { service: 'library.v1.Library', interval_ms: 100 } };
    const other = await startHost({ files: describeLibrary(ROUTES, url, {}, health) });
    await waitUntil('it is down', async () => (await readState(other)) === 'down');
    await other.stop();
  });
});
