// Sends a request for each imported operation of some documents through one host, with a path made from the document,
// and compares it with the path that the provider received.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { convertDocument } from '../../dist/core/cli/import/convert-document.js';
import { followReference } from '../../dist/core/cli/import/openapi-document.js';
import { parseOpenApi } from '../../dist/core/cli/import/parse-openapi.js';
import { isOperation } from '../../dist/core/cli/import/unmapped.js';

const MAIN = fileURLToPath(new URL('../../dist/core/main.js', import.meta.url));
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const CONCURRENCY = 8;
const SHOWN_FAILURES = 20;
const START_DEADLINE_MS = 120_000;

export async function comparePaths(files) {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-import-'));
  const provider = await startProvider();
  const calls = files.flatMap((file, index) => {
    return writeModule(folder, `m${index}`, file, provider.url);
  });
  const host = await startHost(folder);
  try {
    return await sendAll(calls, host.url, provider.paths);
  } finally {
    host.child.kill();
    provider.server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function startProvider() {
  const paths = new Map();
  const server = createServer((request, response) => {
    paths.set(request.headers['x-request-id'], request.url);
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, paths, url: `http://127.0.0.1:${server.address().port}` };
}

/** @returns the calls of its routes */
export function writeModule(folder, module, file, endpoint) {
  const document = parseOpenApi(JSON.parse(readFileSync(file, 'utf8')));
  const { manifest, unmapped } = convertDocument(document, module);
  const descriptor = {
    apiVersion: 'modgate/v1',
    module,
    provider: { kind: 'http', config: { endpoints: [endpoint] } },
    manifest: `./${module}/manifest.json`,
    // The bodies of these requests are empty objects.
    schemas: { input: 'off' },
  };
  mkdirSync(join(folder, module));
  writeFileSync(join(folder, module, 'manifest.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, `${module}.json`), JSON.stringify(descriptor));
  const missing = new Set(unmapped.filter(isOperation).map(({ place }) => place));
  return listCalls(document, missing).map((call) => ({ ...call, module }));
}

function listCalls(document, missing) {
  return Object.entries(document.root.paths ?? {}).flatMap(([path, written]) => {
    const item = followReference(document, written);
    return METHODS.flatMap((name) => {
      const method = name.toUpperCase();
      const operation = item[name];
      if (typeof operation !== 'object' || missing.has(`${method} ${path}`)) return [];
      const body = followReference(document, operation.requestBody);
      const [type] = Object.keys(body.content ?? {});
      const sent = method === 'GET' ? undefined : type;
      return [{ method, path: fillPath(path, item, operation, document), type: sent }];
    });
  });
}

function fillPath(path, item, operation, document) {
  const all = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
  const parameters = all.map((one) => followReference(document, one));
  // The query and the fragment of a path take no part in a route.
  const [template] = path.split(/[?#]/);
  return template
    .split(/\{([^{}]+)\}/)
    .map((part, index) => {
      if (index % 2 === 0) return encodeLiteral(part);
      const found = parameters.find((one) => one.in === 'path' && one.name === part);
      return encodeURIComponent(chooseValue(found ?? {}, document));
    })
    .join('');
}

function encodeLiteral(text) {
  return /%[0-9a-f]{2}/i.test(text) ? text : encodeURI(text);
}

function chooseValue({ example, examples, schema }, document) {
  const { example: own, default: value, enum: values, type } = followReference(document, schema);
  const [named] = Object.values(examples ?? {});
  const chosen = [example, named?.value, own, value, values?.[0]].find(
    (one) => (typeof one === 'string' && one !== '') || typeof one === 'number',
  );
  return String(chosen ?? (type === 'integer' || type === 'number' ? '7' : 'a1'));
}

export async function startHost(folder) {
  const args = [MAIN, 'serve', '--modules', folder, '--port', '0', '--env', 'development'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the host did not start')), START_DEADLINE_MS);
    let output = '';
    child.stdout.on('data', (bytes) => {
      output += bytes;
      const [found] = /http:\/\/[\d.]+:\d+/.exec(output) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  return { child, url };
}

async function sendAll(calls, url, received) {
  const waiting = calls.map((call, index) => ({ ...call, id: `path-${index}` }));
  const failures = [];
  let equal = 0;
  const work = async () => {
    for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) {
      const status = await send(call, url);
      const path = received.get(call.id);
      if (path === call.path) equal += 1;
      else failures.push({ ...call, status, received: path ?? null });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return { sent: calls.length, equal, failures: failures.slice(0, SHOWN_FAILURES) };
}

async function send({ method, path, type, module, id }, url) {
  const headers = {
    authorization: 'Bearer dev-system:root',
    'x-request-id': id,
    'idempotency-key': id,
    ...(type !== undefined && { 'content-type': nameType(type) }),
  };
  const body = type === undefined ? undefined : '{}';
  const target = `${url}/modules/${module}/http${path === '/' ? '' : path}`;
  const response = await fetch(target, { method, headers, body });
  await response.arrayBuffer();
  return response.status;
}

/** A range such as any media type is sent as JSON. */
function nameType(type) {
  return type.includes('*') || /json/i.test(type) ? 'application/json' : type;
}
