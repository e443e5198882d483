// Calls operations of a document through a host with its examples, and compares what arrives at both ends.
import { createServer } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { listOperations, writeRequest } from './document-operations.mjs';
import { createRules } from './document-rules.mjs';

/** Answers a request as it was told to, and keeps what it received. */
export async function startProvider() {
  const answers = new Map();
  const received = new Map();
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const id = request.headers['x-request-id'];
      const { method, url: target, headers } = request;
      received.set(id, { method, target, headers, bytes: Buffer.concat(chunks).toString() });
      const { status = 200, type = null, bytes = '' } = answers.get(id) ?? {};
      response.writeHead(status, type === null ? {} : { 'content-type': type });
      response.end(type === null || status === 204 ? '' : bytes);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return { server, url, answers, received };
}

/**
 * Calls operations of a document through a host, and lists what was not as documented.
 * @param options.wanted the number of operations
 * @param options.mode that of the module: the client gets the status of the provider in `raw`
 */
export async function callAll(root, url, provider, { wanted, mode }) {
  const rules = { request: createRules(root, 'request'), response: createRules(root, 'response') };
  const { operations, contradictions, skipped } = listOperations(root, rules);
  const chosen = choose(operations, wanted);
  const found = {
    operations: chosen.length,
    calls: 0,
    good: 0,
    contradictions,
    skipped,
    failures: [],
  };
  for (const operation of chosen) {
    for (const [index, call] of listCalls(operation).entries()) {
      const id = `${found.calls}-${index}`;
      provider.answers.set(id, call.response);
      const failure = await send({ ...operation, ...call, id, mode }, url, provider.received);
      found.calls += 1;
      if (failure === null) found.good += 1;
      else found.failures.push({ place: `${operation.method} ${operation.path}`, ...failure });
    }
  }
  return found;
}

/** Chooses operations of the whole document, those with examples first. */
function choose(operations, wanted) {
  const sorted = operations.toSorted((a, b) => Math.sign(b.given) - Math.sign(a.given));
  const given = sorted.filter((one) => one.given > 0);
  const pool = given.length >= wanted ? given : sorted;
  const step = Math.max(1, pool.length / wanted);
  const count = Math.min(wanted, pool.length);
  return Array.from({ length: count }, (_, index) => pool[Math.floor(index * step)]);
}

/** Each body once, and each response once. */
function listCalls({ bodies, responses }) {
  const allBodies = bodies.length === 0 ? [{ type: null }] : bodies;
  const count = Math.max(allBodies.length, responses.length);
  return Array.from({ length: count }, (_, index) => ({
    body: allBodies[Math.min(index, allBodies.length - 1)],
    response: responses[Math.min(index, responses.length - 1)],
  }));
}

/** @returns what went wrong; `null` for a call that the host carried as documented */
async function send(call, url, received) {
  const { method, path, parameters, body, response: documented, id, mode } = call;
  const { target, headers } = writeRequest(path, parameters);
  const answered = await fetch(`${url}/modules/api/http${target === '/' ? '' : target}`, {
    method,
    headers: {
      'idempotency-key': id,
      ...headers,
      authorization: 'Bearer dev-system:root',
      'x-request-id': id,
      accept: documented.type ?? 'application/json',
      ...(body.type !== null && { 'content-type': body.type }),
    },
    body: body.type === null ? undefined : body.bytes,
  });
  const text = await answered.text();
  const sent = received.get(id);
  const about = { target, type: body.type, responseType: documented.type, status: answered.status };
  if (sent === undefined) return { kind: 'rejected', ...about, ...explain(text) };
  const expected = { method, target, bytes: body.type === null ? '' : body.bytes };
  const actual = { method: sent.method, target: sent.target, bytes: sent.bytes };
  if (!isDeepStrictEqual(actual, expected)) return { kind: 'changed', ...about, expected, actual };
  if (body.type !== null && sent.headers['content-type'] !== body.type) {
    return { kind: 'changed', ...about, actual: sent.headers['content-type'] };
  }
  if (answered.status >= 400) return { kind: 'response', ...about, ...explain(text) };
  const isStatus = mode !== 'raw' || answered.status === documented.status;
  return isStatus && isReturned(text, documented)
    ? null
    : { kind: 'changed response', ...about, text: text.slice(0, 300) };
}

/** Whether the client has the bytes of the response, in the envelope or alone. */
function isReturned(text, { type, bytes = '', status, isEvents }) {
  if (type === null || status === 204) return true;
  return isEvents ? text.includes(bytes.trim()) : text.includes(bytes);
}

function explain(text) {
  try {
    const { code, detail, errors } = JSON.parse(text);
    return { code, detail, errors };
  } catch {
    return { detail: text.slice(0, 300) };
  }
}
