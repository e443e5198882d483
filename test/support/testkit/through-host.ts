import { Pool } from 'undici';
import {
  type HttpRouteOperation,
  type Invocation,
  type OpenContext,
  type Outcome,
  type Provider,
  type ProviderAdapter,
  ProviderFailure,
} from '../../../core/contract/index.js';
import { type AdapterSubject, REFERENCE_MANIFEST } from '../../../core/testkit/index.js';
import type { RunningHost } from '../start-host.js';

/** Of the module: what the suite takes for the deadline of a call is nothing that a caller can say. */
const TIMEOUT_MS = 1_500;
/** What the clauses about the size of an answer allow. */
const SMALL_RESPONSE_BYTES = 1_000;
const POLL_MS = 20;
const DEADLINE_MS = 10_000;
/** How long a manifest may take to come; a provider that is down never has one. */
const MANIFEST_MS = 4_000;

const AUTHORIZATION = 'Bearer dev-service:testkit:reference.use,modgate.modules.read';
const DIGEST = `sha256:${'a'.repeat(64)}`;

/** What a caller of a host cannot see or do. */
const EXCEPTIONS = {
  'configure.delivers': 'the host decides when; the test beside the suite sees that it does',
  'request.header-injection': 'no client of HTTP can send such a header to the host',
  'answer.status': 'every good status is 200 to a caller',
  'answer.error-body': 'it does not reach a caller',
  'answer.headers': 'no header of the provider reaches a caller',
  'answer.not-json': 'is a 502 to a caller',
  'signal.already-aborted': 'a caller who has gone asks nobody',
  'signal.no-listeners': 'the signal does not reach the host',
  'calls.late-answer': 'the deadline is that of the module',
  'calls.no-stray-rejection': 'the host is another process',
  'endpoints.shape': 'a caller sees no endpoints',
  'endpoints.each': 'a caller sees no endpoints',
  'close.handles': 'the host is another process',
  'close.during-invoke': 'the host waits for the calls in flight',
  'lifetime.handles': 'the host is another process',
  'lifetime.memory': 'the host is another process',
};

/**
 * The same subject, asked through a running host: `open` drops a descriptor into its folder, each call is
 * one over HTTP, and the close removes the descriptor.
 */
export function askThroughHost(subject: AdapterSubject, host: () => RunningHost): AdapterSubject {
  const adapter: ProviderAdapter = {
    ...subject.adapter,
    open: (config, context) => openThroughHost(host(), subject.adapter.kind, config, context),
  };
  return { ...subject, adapter, except: { ...subject.except, ...EXCEPTIONS } };
}

let modules = 0;

async function openThroughHost(
  host: RunningHost,
  kind: string,
  config: unknown,
  { scope }: OpenContext,
): Promise<Provider> {
  modules += 1;
  const name = `reference-${modules}`;
  const pool = new Pool(host.url);
  const mount = async (module: string, others: object) => {
    host.drop(`${module}.json`, describeModule(module, { kind, config }, others));
    scope.defer(async () => {
      host.remove(`${module}.json`);
      await poll(async () => (await findModule(pool, module)) === undefined);
    });
    await poll(async () => (await findModule(pool, module)) !== undefined);
  };
  scope.defer(() => pool.destroy());
  await mount(name, { manifest: { inline: REFERENCE_MANIFEST } });
  let small: Promise<void> | null = null;

  const invoke = async (invocation: Invocation): Promise<Outcome> => {
    const { operation, maxResponseBytes } = invocation;
    if (operation.kind !== 'http_route') return askBridge(pool, name, invocation);
    if (maxResponseBytes !== SMALL_RESPONSE_BYTES) return askRoute(pool, name, invocation);
    small ??= mount(`${name}-small`, {
      manifest: { inline: REFERENCE_MANIFEST },
      limits: { timeout_ms: TIMEOUT_MS, response_bytes: SMALL_RESPONSE_BYTES },
    });
    await small;
    return askRoute(pool, `${name}-small`, invocation);
  };
  let asked: Promise<void> | null = null;
  return {
    invoke,
    check: async () => {
      const target = '/echo/check';
      const route = { kind: 'http_route', method: 'GET', target, body: null } as HttpRouteOperation;
      await askRoute(pool, name, { operation: route, headers: {} });
    },
    manifest: async () => {
      asked ??= mount(`${name}-asking`, { manifest: { from: 'provider' } });
      await asked;
      return readManifest(pool, `${name}-asking`);
    },
  };
}

function describeModule(module: string, provider: object, others: object): object {
  return {
    module,
    provider,
    limits: { timeout_ms: TIMEOUT_MS },
    // Every call is one call: what the host makes of failures is tested elsewhere.
    retry: { attempts: 0 },
    breaker: { failures: 1_000 },
    console: { release: DIGEST, ui: [DIGEST], grants: ['reference.use'] },
    ...others,
  };
}

async function askRoute(
  pool: Pool,
  module: string,
  { operation, headers, cancellation }: Partial<Invocation> & Pick<Invocation, 'headers'>,
): Promise<Outcome> {
  const { method, target, body } = operation as HttpRouteOperation;
  const type = body === null ? {} : { 'content-type': 'application/json' };
  const path = `/modules/${module}/http${target}`;
  const answer = await send(
    pool,
    { method, path, headers: { ...type, ...headers }, body },
    cancellation,
  );
  if (answer.status !== 200) return toOutcome(answer);
  const data = answer.text.slice(answer.text.indexOf(',"data":') + ',"data":'.length, -1);
  if (data === 'null') return { status: 204, headers: {}, body: null };
  return { status: 200, headers: {}, body: Buffer.from(data) };
}

async function askBridge(pool: Pool, module: string, { operation }: Invocation): Promise<Outcome> {
  const payload =
    operation.kind === 'admin_list'
      ? {
          operation: 'admin_data_list',
          entity: operation.entity,
          limit: operation.limit,
          ...(operation.cursor !== null && { cursor: operation.cursor }),
        }
      : { operation: 'admin_action_invoke', action: 'act', input: 'INPUT' };
  const written = JSON.stringify({
    moduleReleaseDigest: DIGEST,
    uiArtifactDigest: DIGEST,
    permission: 'reference.use',
    payload,
  });
  const input = 'inputJson' in operation ? Buffer.from(operation.inputJson).toString() : '';
  const answer = await send(pool, {
    method: 'POST',
    path: `/modules/${module}/http/console-bridge/reference.use`,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(written.replace('"INPUT"', () => input)),
  });
  if (answer.status !== 200) return toOutcome(answer);
  if (operation.kind !== 'admin_list') {
    const data = answer.text.slice('{"data":'.length, -1);
    return { status: 200, headers: {}, body: Buffer.from(data) };
  }
  const { data } = JSON.parse(answer.text) as { data: { data: unknown[]; nextCursor: unknown } };
  const page = { records: data.data, next_cursor: data.nextCursor };
  return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(page)) };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Call {
  readonly method: HttpRouteOperation['method'];
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
}

/** Gives up with the caller, never with the deadline: that one is the host's. */
async function send(
  pool: Pool,
  { method, path, headers, body }: Call,
  cancellation?: Invocation['cancellation'],
): Promise<Answer> {
  const controller = new AbortController();
  const heed = {
    handleEvent: () => {
      const reason = cancellation?.reason as ProviderFailure;
      if (reason.failure === 'cancelled') controller.abort(reason);
    },
  };
  cancellation?.addEventListener('abort', heed);
  try {
    const answer = await pool.request({
      method,
      path,
      headers: { ...headers, authorization: AUTHORIZATION },
      body: body === null ? null : Buffer.from(body),
      signal: controller.signal,
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  } finally {
    cancellation?.removeEventListener('abort', heed);
  }
}

/** A 502 as what it tells of the provider. */
function toOutcome({ status, text }: Answer): Outcome {
  if (status !== 502) throw new Error(`the host answered ${status}: ${text}`);
  const { errors } = JSON.parse(text) as { errors: { field: string; reason: string }[] };
  const read = (field: string) => errors.find((error) => error.field === field)?.reason;
  const provided = Number(read('provider_status') ?? 0);
  const failure = read('failure') ?? '';
  const isRedirect = provided >= 300 && provided <= 399;
  if (failure === 'status' || isRedirect) return { status: provided, headers: {}, body: null };
  throw new ProviderFailure(failure as ProviderFailure['failure'], text);
}

interface ModuleEntry {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
}

async function findModule(pool: Pool, name: string): Promise<ModuleEntry | undefined> {
  const { text } = await send(pool, { method: 'GET', path: '/modules', headers: {}, body: null });
  const { modules } = JSON.parse(text) as { modules: ModuleEntry[] };
  return modules.find((module) => module.name === name);
}

async function readManifest(pool: Pool, name: string): Promise<unknown> {
  // The host asks again and again; a provider that has just been started needs a moment.
  const end = performance.now() + MANIFEST_MS;
  let found = await findModule(pool, name);
  while (found?.state !== 'live') {
    if (performance.now() > end) throw new ProviderFailure('unavailable', `${found?.reason}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    found = await findModule(pool, name);
  }
  const { text } = await send(pool, { method: 'GET', path: '/manifests', headers: {}, body: null });
  const { manifests } = JSON.parse(text) as { manifests: { name: string; manifest: unknown }[] };
  return manifests.find((entry) => entry.name === name)?.manifest;
}

async function poll(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + DEADLINE_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('the host did not follow in time');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
