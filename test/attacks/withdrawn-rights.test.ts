import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { rights } from '../../core/operations/right-watch.js';
import { callConsole, SAME_ORIGIN, signIn } from '../support/console/console-client.js';
import { call } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { openRaw, writeAccepted, writeHandshake } from '../support/http/use-websockets.js';
import { waitUntil } from '../support/http/wait-until.js';
import { MODERN } from '../support/mcp/mcp-call.js';
import { answerJson, type ScriptedProvider, startProvider } from '../support/provider.js';
import { type RunningHost, startHost } from '../support/start-host.js';
import { started } from '../support/started.js';
import { type StreamingProvider, startStreamingProvider } from '../support/streaming-provider.js';
import { createFolder } from '../support/temporary-folder.js';

const SCOPE = 'files.use';
const PART = 'x'.repeat(2000);
const ROUTES = [
  { method: 'GET', path: '/bytes', operation: { response: 'bytes' } },
  { method: 'GET', path: '/json' },
  { method: 'GET', path: '/sse', operation: { stream: 'sse' } },
  { method: 'GET', path: '/ndjson', operation: { stream: 'ndjson' } },
  { method: 'GET', path: '/websocket', operation: { stream: 'websocket' } },
  { method: 'POST', path: '/upload', operation: { body: 'bytes' } },
  { method: 'POST', path: '/upload-json' },
].map((route) => ({ ...route, capability: SCOPE }));
const LIMITS = { response_bytes: 1_000_000, hold_bytes: 100, hold_request_bytes: 100 };

const BODIES: Readonly<Record<string, readonly [type: string, start: string]>> = {
  '/bytes': ['application/octet-stream', PART],
  '/json': ['application/json', `["${PART}"`],
  '/sse': ['text/event-stream', 'data: 1\n\n'],
  '/ndjson': ['application/x-ndjson', '{"a":1}\n'],
};

/** Uploads that have reached the provider. */
let uploads = 0;

/** Begins each response, and ends none. */
function answer({ url = '', method }: IncomingMessage, response: ServerResponse): void {
  const [type, start] = BODIES[url] ?? [];
  if (method === 'POST') uploads += 1;
  if (type === undefined) return;
  response.writeHead(200, { 'content-type': type });
  response.write(start);
}

const tokenOf = (id: string) => `token-of-${id}-0123456789`;
const describeToken = (id: string, members: object = {}) => ({
  ...{ id, kind: 'service', scopes: [SCOPE] },
  ...members,
  sha256: createHash('sha256').update(tokenOf(id)).digest('hex'),
});
const OPS = describeToken('ops', { scopes: ['modgate.calls.read'] });
const ADMIN = { kind: 'user', scopes: ['console.admin', 'modgate.calls.read', SCOPE] };

/** Something that runs under the right of a caller. */
interface Transfer {
  /** What the client got when it ended; `null` while it runs. */
  readonly end: () => string | null;
  readonly close: () => void;
}

describe('attack: a caller goes on after its right has ended', () => {
  let folder: string;
  let host: RunningHost | undefined;
  let provider: StreamingProvider | undefined;
  let issuer: ScriptedProvider | undefined;
  let claims: object = { active: false };
  const write = (name: string, value: object | string) => {
    const path = join(folder, name);
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value), { mode: 0o600 });
    return path;
  };
  const know = (...tokens: readonly object[]) => write('tokens.json', { tokens: [OPS, ...tokens] });

  before(async () => {
    folder = createFolder();
    provider = await startStreamingProvider(answer);
    provider.onUpgrade((upgrade, connection) => {
      connection.on('error', () => {}).on('end', () => connection.end());
      connection.write(writeAccepted(upgrade));
    });
    issuer = await startProvider((asked, response) => answerJson(claims)(asked, response));
    write('secret', 'a-secret');
    const introspection = {
      ...{ name: 'opaque', url: issuer.url, client_id: 'gateway', client_secret: 'file:./secret' },
      ...{ actor: { kind: 'service' }, cache_seconds: 1 },
    };
    const describe = (name: string, members: object) =>
      describeModule(name, started(provider).url, ROUTES, {
        ...{ limits: LIMITS, callers: ['service', 'user'] },
        ...members,
      });
    host = await startHost({
      args: [
        ...['--tokens', know(), '--roles', write('roles.json', { roles: {} })],
        ...['--issuers', write('issuers.json', { introspection: [introspection] })],
        ...['--surfaces', 'mcp,console'],
      ],
      files: {
        'files.json': describe('files', {}),
        'raw.json': describe('raw', { responses: { mode: 'raw' } }),
      },
    });
  });

  after(async () => {
    await host?.stop();
    await provider?.stop();
    await issuer?.stop();
  });

  /** 403 for a caller that is known, 401 for others. */
  const statusOf = async (token: string) =>
    (await call(started(host), { target: '/modules', as: token })).status;
  const untilStatus = (id: string, status: number) =>
    waitUntil(`${id} gets ${status}`, async () => (await statusOf(tokenOf(id))) === status);
  const untilScope = (id: string, status: number) =>
    waitUntil(`${id} gets ${status}`, async () => {
      const response = await fetch(`${started(host).url}/modules/files/http/json`, {
        headers: { authorization: `Bearer ${tokenOf(id)}` },
      });
      await response.body?.cancel();
      return response.status === status;
    });

  /** Opens a response, or sends the start of a body, and reads what comes. */
  const open = async (token: string, path: string, more: Record<string, string> = {}) => {
    const isUpload = path.includes('upload');
    const before = uploads;
    let received = '';
    let end: string | null = null;
    const sent = request(started(host).url + path, {
      method: isUpload ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${token}`,
        accept: BODIES[path.slice(path.lastIndexOf('/'))]?.[0] ?? '*/*',
        ...(isUpload && { 'content-type': 'application/json' }),
        ...more,
      },
    });
    sent.on('error', () => {
      end ??= `cut ${received}`;
    });
    sent.on('response', (response) => {
      response.setEncoding('latin1');
      response.on('data', (part) => {
        received += part;
      });
      response.on('error', () => {});
      response.on('close', () => {
        end = `${response.complete ? response.statusCode : 'cut'} ${received}`;
      });
    });
    if (isUpload) sent.write(`["${PART}"`);
    else sent.end();
    const transfer: Transfer = { end: () => end, close: () => sent.destroy() };
    if (isUpload) await waitUntil(`${path} begins`, () => uploads > before || end !== null);
    else await waitUntil(`${path} begins`, () => received.includes(startOf(path)) || end !== null);
    expect(end).to.equal(null);
    return transfer;
  };
  const startOf = (path: string) => BODIES[path.slice(path.lastIndexOf('/'))]?.[1] ?? '';
  const openSocket = async (token: string): Promise<Transfer> => {
    const client = await openRaw(started(host).port);
    const authorization = `Bearer ${token}`;
    client.write(writeHandshake('/modules/files/http/websocket', { authorization }));
    await client.until('\r\n\r\n');
    let end: string | null = null;
    void client.ended().then((bytes) => {
      end = `closed ${bytes.subarray(bytes.indexOf('\r\n\r\n') + 4).toString('hex')}`;
    });
    return { end: () => end, close: () => client.socket.destroy() };
  };

  const openListen = async (token: string): Promise<Transfer> => {
    const method = 'subscriptions/listen';
    const meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const controller = new AbortController();
    const response = await fetch(`${started(host).url}/mcp`, {
      method: 'POST',
      signal: controller.signal,
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...{ accept: 'application/json, text/event-stream' },
        ...{ 'mcp-protocol-version': MODERN, 'mcp-method': method },
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method },
        params: { _meta: meta, notifications: { toolsListChanged: true } },
      }),
    });
    expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
    let end: string | null = null;
    void response.text().then(
      () => {
        end = 'ended';
      },
      () => {
        end = 'cut';
      },
    );
    return { end: () => end, close: () => controller.abort() };
  };

  const openAll = async (token: string): Promise<ReadonlyMap<string, Transfer>> => {
    const transfers = new Map<string, Transfer>();
    for (const module of ['files', 'raw']) {
      for (const { path } of ROUTES) {
        if (path === '/websocket') continue;
        const target = `/modules/${module}/http${path}`;
        transfers.set(target, await open(token, target));
      }
    }
    transfers.set('websocket', await openSocket(token));
    transfers.set('listen', await openListen(token));
    return transfers;
  };

  const expectEnded = async (transfers: ReadonlyMap<string, Transfer>) => {
    await rights.checkAll();
    for (const [name, { end }] of transfers) {
      await waitUntil(`${name} has ended`, () => end() !== null);
    }
    for (const [name, { end }] of transfers) {
      const result = end() ?? '';
      if (name.includes('upload')) expect(result, name).to.match(/^401 .*"code":"unauthorized"/);
      else if (name === 'websocket') expect(result).to.equal('closed 880203f0');
      else if (name === 'listen') expect(result).to.equal('ended');
      else if (/files.*(?:sse|ndjson)/.test(name)) expect(result).to.include('unauthorized');
      else expect(result, name).to.match(/^cut /);
    }
  };

  it('is ended with its token, whatever it is, unlike by a weakened host', async () => {
    know(describeToken('ann'));
    await untilStatus('ann', 403);
    const transfers = await openAll(tokenOf('ann'));
    await rights.checkAll();
    for (const { end } of transfers.values()) expect(end()).to.equal(null);
    know();
    await untilStatus('ann', 401);
    // A weakened host checks no right again.
    for (const { end } of transfers.values()) expect(end()).to.equal(null);
    await expectEnded(transfers);
    const recorded = new Set<unknown>();
    await waitUntil('all are recorded', async () => {
      const target = '/calls?limit=50&module=files';
      const { body } = await call(started(host), { target, as: tokenOf('ops') });
      const { calls } = JSON.parse(body.toString()) as { calls: Record<string, unknown>[] };
      for (const { stream_end, route } of calls) {
        if (stream_end === 'unauthorized') recorded.add(route);
      }
      return ROUTES.every(({ path }) => recorded.has(path));
    });
  });

  it('is ended with the scope that its roles gave', async () => {
    write('roles.json', { roles: { user: { scopes: [SCOPE] } } });
    know(describeToken('bob', { scopes: [], roles: ['user'] }));
    await untilScope('bob', 200);
    const transfers = await openAll(tokenOf('bob'));
    write('roles.json', { roles: { user: { scopes: [] } } });
    await untilScope('bob', 403);
    await expectEnded(transfers);
  });

  it('is ended with the role', async () => {
    write('roles.json', { roles: { user: { scopes: [SCOPE] } } });
    know(describeToken('eve', { scopes: [], roles: ['user'] }));
    await untilScope('eve', 200);
    const transfers = await openAll(tokenOf('eve'));
    know(describeToken('eve', { scopes: [], roles: [] }));
    await untilScope('eve', 403);
    await expectEnded(transfers);
  });

  it('is ended where the token now belongs to another actor', async () => {
    know(describeToken('tom'));
    await untilStatus('tom', 403);
    const transfer = await open(tokenOf('tom'), '/modules/files/http/bytes');
    know({ ...describeToken('tom'), id: 'tim' });
    await waitUntil('the token is of another actor', async () => {
      await rights.checkAll();
      return transfer.end() !== null;
    });
    expect(transfer.end()).to.match(/^cut /);
  });

  it('is ended where the issuer says that the token is not active', async () => {
    claims = { active: true, sub: 'opa', scope: SCOPE };
    const transfers = await openAll('opaque-token-of-opa-0123456789');
    claims = { active: false };
    await waitUntil('it is rejected', async () => {
      return (await statusOf('opaque-token-of-opa-0123456789')) === 401;
    });
    await expectEnded(transfers);
  });

  it('goes on where a token merely expires, unless it is a stream of events', async () => {
    const token = 'opaque-token-of-exp-0123456789';
    const expiresAt = Date.now() + 4000;
    claims = { active: true, sub: 'exp', scope: SCOPE, exp: expiresAt / 1000 };
    const transfers = await openAll(token);
    await waitUntil('it has expired', () => Date.now() > expiresAt);
    claims = { active: false };
    await waitUntil('it is rejected', async () => (await statusOf(token)) === 401);
    await rights.checkAll();
    for (const [name, { end, close }] of transfers) {
      const isBody = /bytes|json$|upload/.test(name) && !name.endsWith('ndjson');
      if (isBody) expect(end(), name).to.equal(null);
      else await waitUntil(`${name} has ended`, () => end() !== null);
      close();
    }
  });

  it('is ended with the session of the console', async () => {
    know(describeToken('amy', ADMIN));
    await untilStatus('amy', 403);
    const cookie = await signIn(started(host), tokenOf('amy'));
    const [name, site] = SAME_ORIGIN;
    const path = '/console/api/modules/files/http/bytes';
    const headers = { cookie, [name]: site };
    const transfer = await openWithout(path, headers);
    await rights.checkAll();
    expect(transfer.end()).to.equal(null);
    const signOut = { method: 'DELETE', path: '/session', cookie };
    expect((await callConsole(started(host), signOut)).status).to.equal(204);
    await rights.checkAll();
    await waitUntil('the download has ended', () => transfer.end() !== null);
    expect(transfer.end()).to.match(/^cut /);
  });

  /** A download whose credentials are these headers. */
  const openWithout = async (path: string, headers: Record<string, string>): Promise<Transfer> => {
    let received = '';
    let end: string | null = null;
    const sent = request(started(host).url + path, { headers }, (response) => {
      expect(response.statusCode).to.equal(200);
      response.setEncoding('latin1').on('data', (part) => {
        received += part;
      });
      response
        .on('error', () => {})
        .on('close', () => {
          end = response.complete ? 'whole' : 'cut ';
        });
    });
    sent.on('error', () => {});
    sent.end();
    await waitUntil('it begins', () => received.includes(PART) || end !== null);
    return { end: () => end, close: () => sent.destroy() };
  };
});
