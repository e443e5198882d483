import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import {
  CALL_MEMBERS,
  ENTRY_MEMBERS,
  REJECTION_MEMBERS,
  STREAM_MEMBERS,
} from '../../core/contract/call-record.js';
import type { RawHeader } from '../../core/selftest/raw-http.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { signIn } from '../support/console/console-client.js';
import { type Call, call, JSON_TYPE } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createCanary, findCanaries } from '../support/secrets/canaries.js';
import { type HostProcess, startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';

const APP = 'https://app.test';
const OBJECT = { type: 'object', properties: { id: { type: 'string' } } };
const STRICT = { ...OBJECT, additionalProperties: false };
const MEMBERS = [
  ...Object.keys({ ...CALL_MEMBERS, ...ENTRY_MEMBERS, ...STREAM_MEMBERS, ...REJECTION_MEMBERS }),
  ...['request_body', 'response_body'],
];

describe('the record of a call', () => {
  const secrets = {
    caller: createCanary('caller'),
    poor: createCanary('poor'),
    expired: createCanary('expired'),
    unknown: createCanary('unknown'),
    provider: createCanary('provider'),
    password: createCanary('password'),
    cookie: createCanary('cookie'),
  };
  const { caller } = secrets;
  const at = (path: string) => `/modules/vault/http${path}`;
  const preflight = (target: string, origin: string, method = 'GET'): Call => ({
    method: 'OPTIONS',
    target,
    headers: [
      ['origin', origin],
      ['access-control-request-method', method],
    ],
  });
  const post = (target: string, value: unknown, headers: readonly RawHeader[] = []): Call => ({
    method: 'POST',
    target,
    headers: [JSON_TYPE, ...headers],
    body: Buffer.from(JSON.stringify(value)),
  });
  /** Each puts a credential where its record could keep it; the others fill a member. */
  const calls: Readonly<Record<string, Call>> = {
    'path of no route': { target: at(`/nowhere/${caller}`) },
    'encoded path': { target: at(`/nowhere/%63${caller.slice(1)}`) },
    'query of no route': { target: at(`/nowhere?token=${caller}`) },
    'unknown module': { target: `/modules/${caller}/http/items` },
    'query of an unknown module': { target: `/modules/nothing/http/items?token=${caller}` },
    'wrong token in the path': { target: at(`/${secrets.unknown}`), as: secrets.unknown },
    'expired token': { target: at('/items'), as: secrets.expired },
    'missing scope': { target: at('/items'), as: secrets.poor },
    'name of a member': post(at('/strict'), { [caller]: 1 }),
    'value of a member': post(at('/strict'), { id: caller, password: secrets.password }),
    'name of a parameter': { target: at(`/paged?${caller}=1`) },
    'captured bodies': post(at('/items'), { id: 'a', password: secrets.password }),
    'body of an error': { target: at('/sentence') },
    'type of an answer': { target: at('/typed') },
    'broken head of an answer': { target: at('/head') },
    'bytes in both directions': {
      ...post(at('/bytes'), { password: secrets.password }),
      headers: [['content-type', 'application/octet-stream']],
    },
    'query of a cached route': { target: at(`/cached?token=${caller}`) },
    'stream of events': { target: at('/events'), headers: [['accept', 'text/event-stream']] },
    'refused preflight': preflight(at(`/items/${caller}`), 'https://evil.test'),
    'origin of a preflight': preflight(at('/items'), `https://${caller}.test`),
    'method of a preflight': preflight(at(`/items/${caller}`), APP, 'TRACE'),
    'path after a cookie': {
      target: at(`/nowhere/${secrets.cookie}`),
      headers: [['cookie', `sid=${secrets.cookie}`]],
    },
    'path below a mount': { target: `/safe/nowhere/${caller}` },
    'trace of a call': {
      target: at('/nowhere'),
      headers: [['traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]],
    },
  };
  /** All outputs, by their source. */
  const outputs = new Map<string, string>();
  let folder: string;
  let state: string;
  let provider: Server;
  let host: HostProcess;
  const ids: string[] = [];

  const send = async (input: Call) => {
    const id = `call-${ids.length}`;
    ids.push(id);
    const headers = [['x-request-id', id] as const, ...(input.headers ?? [])];
    await call(host, { as: caller, ...input, headers });
  };
  /** Brings the token as a subprotocol, as a page does, and in the query. */
  const openSocket = async () => {
    const id = `call-${ids.length}`;
    ids.push(id);
    const subprotocol = Buffer.from(caller).toString('base64url');
    Object.assign(secrets, { subprotocol });
    const bearer = `modgate.bearer.${subprotocol}`;
    const url = `${host.url.replace('http', 'ws')}${at('/socket')}?token=${caller}`;
    const client = new WebSocket(url, ['modgate.v1', bearer], { headers: { 'x-request-id': id } });
    client.on('open', () => client.send(secrets.password));
    await once(client, 'close');
  };
  const read = async (id: string) => {
    const { body } = await call(host, { target: `/calls?request_id=${id}`, as: caller });
    return body.toString();
  };
  const run = async (...args: string[]) => {
    const access = ['--url', host.url, '--token', caller];
    const { stdout, stderr } = await runModgate([...args, ...access]);
    outputs.set(args.join(' '), stdout + stderr);
    return stdout;
  };

  before(async () => {
    provider = createServer((request, response) => {
      request.resume().on('end', () => {
        const { authorization = '' } = request.headers;
        const [path] = request.url?.split('?') ?? [];
        const key = authorization.replace('Bearer ', '');
        const text = `the key ${key} of ${authorization} has expired`;
        const isError = path === '/sentence';
        const type = path === '/typed' ? `text/${key}` : 'application/json';
        if (path === '/head') return void response.socket?.end(`HTTP/1.1 ${key} no\r\n\r\n`);
        if (path === '/events') {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          return void response.end(`data: ${text}\n\n`);
        }
        response.writeHead(isError ? 422 : 200, { 'content-type': type });
        response.end(JSON.stringify({ detail: text, errors: [{ field: key, message: text }] }));
      });
    });
    const sockets = new WebSocketServer({ noServer: true });
    provider.on('upgrade', (request, connection, head) => {
      sockets.handleUpgrade(request, connection, head, (peer) => {
        peer.on('message', (text) => {
          peer.send(`${request.headers.authorization} ${text}`);
          peer.close(4000, secrets.provider);
        });
      });
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    folder = createFolder();
    state = join(folder, 'state');
    const write = (name: string, content: object) => {
      writeFileSync(join(folder, name), JSON.stringify(content));
      return join(folder, name);
    };
    const config = write('modgate.yaml', { cors: { origins: [APP] } });
    const roles = write('roles.json', { roles: { reader: { scopes: ['vault.use'] } } });
    host = await startHostProcess({
      dev: false,
      env: { VAULT_KEY: secrets.provider },
      args: [
        ...['--keep-calls', '1000', '--log-level', 'trace'],
        ...['--config', config, '--roles', roles, '--state', state],
      ],
      tokens: describeTokens(secrets),
      files: {
        'vault.json': describeVault(url),
      },
    });
  });

  after(async () => {
    await host?.kill();
    provider.closeAllConnections();
    await new Promise((resolve) => provider.close(resolve));
  });

  it('has each member, from the calls of this test', async () => {
    for (const input of Object.values(calls)) await send(input);
    await openSocket();
    const cookie = await signIn(host, caller);
    Object.assign(secrets, { session: cookie.slice(cookie.indexOf('=') + 1) });
    await send({
      target: `/console/api${at('/items')}`,
      as: null,
      headers: [
        ['cookie', cookie],
        ['sec-fetch-site', 'same-origin'],
      ],
    });
    const filled = new Set<string>();
    for (const id of ids) {
      await waitUntil(`the record of ${id}`, async () => (await read(id)).includes(`"${id}"`));
      const text = await read(id);
      outputs.set(`GET /calls of ${id}`, text);
      const { calls: records } = JSON.parse(text) as { calls: Record<string, unknown>[] };
      for (const [name, value] of records.flatMap((record) => Object.entries(record))) {
        if (value !== null && `${value}` !== '') filled.add(name);
      }
    }
    // Only hosts of a fleet have an id, which they make, and only issuers name a header or a claim.
    const unfilled = MEMBERS.filter((name) => !filled.has(name));
    expect(unfilled).to.deep.equal(['host', 'reason_detail']);
  });

  it('holds no credential, wherever it is shown', async () => {
    for (const id of ids) {
      expect(await run('explain', '--request-id', id, '--now')).to.include('=>');
      await run('explain', '--request-id', id, '--json');
    }
    await run('calls', '--json');
    await host.stop();
    outputs.set('the log', host.output());
    const leaks = [...outputs].map(([where, text]) => [where, findCanaries(text, secrets)]);
    expect(leaks.filter(([, places]) => places?.length)).to.deep.equal([]);
  });

  it('holds no credential in the file of the store', () => {
    const files = readdirSync(state).filter((name) => name.startsWith('modgate.db'));
    const text = files.map((name) => readFileSync(join(state, name), 'latin1')).join('');
    // It holds the calls.
    for (const id of ids) expect(text).to.include(id);
    expect(findCanaries(text, secrets)).to.deep.equal([]);
  });
});

function describeTokens(secrets: Readonly<Record<'caller' | 'poor' | 'expired', string>>) {
  const scopes = ['vault.use', 'modgate.calls.read', 'modgate.explain'];
  const entry = (id: 'caller' | 'poor' | 'expired') => ({
    ...{ id, kind: 'service', scopes: id === 'poor' ? [] : scopes },
    sha256: hash('sha256', secrets[id]),
  });
  return {
    tokens: [
      entry('caller'),
      entry('poor'),
      { ...entry('expired'), expires_at: '2020-01-01T00:00:00Z' },
    ],
  };
}

function describeVault(url: string) {
  const route = (method: string, path: string, operation: object = {}) => ({
    ...{ method, path, capability: 'vault.use', operation },
  });
  return {
    module: 'vault',
    provider: { kind: 'http', config: { endpoints: [url], auth: { bearer: 'env:VAULT_KEY' } } },
    provider_errors: 'passthrough',
    mount: [{ path: '/safe' }],
    records: { capture_bytes: 4096, digests: true },
    manifest: {
      inline: {
        protocol: 'modgate.manifest.v1',
        module_id: 'vault',
        capabilities: ['vault.use'],
        http_routes: [
          ...['/items', '/sentence', '/typed', '/head'].map((path) => route('GET', path)),
          route('POST', '/items'),
          route('POST', '/strict', { input_schema: STRICT }),
          route('GET', '/paged', { query_schema: STRICT }),
          route('GET', '/cached', { cache: { ttl_ms: 60_000 } }),
          route('GET', '/events', { stream: 'sse' }),
          route('GET', '/socket', { stream: 'websocket' }),
          route('POST', '/bytes', { body: 'bytes', response: 'bytes' }),
        ],
      },
    },
  };
}
