// What the benches of a fleet consist of: hosts, cuttable proxies, haproxy and clients.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { Agent, createServer as createHttpServer, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS = 20;
const CLIENTS = 16;
const POLL_MS = 100;
const WAIT_MS = 90_000;
const REQUEST_TIMEOUT_MS = 10_000;
const BODY = JSON.stringify({ ok: true });

export const ITEMS = '/modules/crm/http/items';
export const TOKEN = 'dev-service:load:crm.read,modgate.modules.read,modgate.releases';

export async function waitUntil(what, condition, pollMs = POLL_MS) {
  const deadline = performance.now() + WAIT_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${WAIT_MS} ms`);
    await pause(pollMs);
  }
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

export async function startProvider() {
  const server = createHttpServer((asked, response) => {
    asked.resume();
    const headers = { 'content-type': 'application/json', 'content-length': BODY.length };
    response.writeHead(200, headers).end(BODY);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** A way to a server that can be cut and restored. */
export async function startProxy(host, port) {
  const sockets = new Set();
  const open = async (own) => {
    const server = createServer((client) => {
      const upstream = connect({ host, port });
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ]) {
        sockets.add(from);
        from.on('error', () => {});
        from.on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
        from.pipe(to);
      }
    });
    await once(server.listen(own, '127.0.0.1'), 'listening');
    return server;
  };
  let server = await open(0);
  const own = server.address().port;
  const cut = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  return {
    port: own,
    cut,
    restore: async () => {
      server = await open(own);
    },
  };
}

export function describeModule(module, provider, members = {}) {
  return {
    apiVersion: 'modgate/v1',
    module,
    provider: { kind: 'http', config: { endpoints: [provider] } },
    manifest: {
      inline: {
        protocol: 'modgate.manifest.v1',
        module_id: module,
        capabilities: ['crm.read'],
        http_routes: [{ method: 'GET', path: '/items', capability: 'crm.read' }],
      },
    },
    ...members,
  };
}

/** A folder with descriptors and places for the state of each host. */
export function createFolder(provider, modules) {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-fleet-'));
  mkdirSync(join(folder, 'modules.d'));
  for (const [module, members] of Object.entries(modules)) {
    const descriptor = describeModule(module, provider, members);
    writeFileSync(join(folder, 'modules.d', `${module}.json`), JSON.stringify(descriptor));
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function startHost(folder, name, port, args) {
  const all = ['dist/core/main.js', 'serve', '--env', 'development', '--port', `${port}`];
  const own = ['--state', join(folder, name)];
  const flags = ['--status-files', 'off', '--log-success-sample', '0', ...args];
  const logFile = join(folder, `${name}.log`);
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, [...all, ...own, ...flags], {
    stdio: ['ignore', log, 'inherit'],
  });
  closeSync(log);
  const url = `http://127.0.0.1:${port}`;
  const exited = once(child, 'exit');
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`host ${name} exited with ${child.exitCode}`);
    return (await ask(port, '/readyz').catch(() => 0)) === 200;
  };
  await waitUntil(`host ${name}`, isReady);
  return {
    ...{ name, port, url, pid: child.pid },
    /** Its log lines so far. */
    readLog: () => readFileSync(logFile, 'utf8').trim().split('\n').map((line) => JSON.parse(line)),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await exited;
    },
  };
}

export async function startHaproxy(folder, configuration) {
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, configuration);
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
  return { stop: () => child.kill() };
}

export function ask(port, path, agent) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const timeout = REQUEST_TIMEOUT_MS;
    const sent = request({ host: '127.0.0.1', port, path, headers, timeout, agent }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode)).once('error', reject);
    });
    sent.once('timeout', () => sent.destroy(new Error('no response in time')));
    sent.once('error', reject).end();
  });
}

export async function readJson(url) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${TOKEN}` } });
  return response.json();
}

export async function postJson(url, value) {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(value) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** Clients that call every 20 ms, each over a connection that it keeps. */
export function startLoad(port, { path = ITEMS, clients: count = CLIENTS } = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const load = { answered: 0, failed: {}, slowestMs: 0, isOver: false };
  const run = async () => {
    while (!load.isOver) {
      const start = performance.now();
      const status = await ask(port, path, agent).catch(({ message }) => message);
      load.slowestMs = Math.max(load.slowestMs, performance.now() - start);
      load.answered += 1;
      if (status !== 200) load.failed[status] = (load.failed[status] ?? 0) + 1;
      await pause(PAUSE_MS);
    }
  };
  const clients = Array.from({ length: count }, run);
  return {
    stop: async () => {
      load.isOver = true;
      await Promise.all(clients);
      agent.destroy();
      const { answered, failed, slowestMs } = load;
      return { requests: answered, failed, slowest_ms: Math.round(slowestMs) };
    },
  };
}
