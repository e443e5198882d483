import { Pool } from 'undici';
import {
  type HttpRouteOperation,
  type Invocation,
  type Manifest,
  type OpenContext,
  type Outcome,
  type Provider,
  type ProviderAdapter,
  ProviderFailure,
} from '../../../core/contract/index.js';
import type { AdapterSubject, RunningReference } from '../../../core/testkit/index.js';
import { describeReference } from '../../../core/testkit/reference/reference-routes.js';
import { waitUntil } from '../http/wait-until.js';
import type { RunningHost } from '../start-host.js';

/** The timeout of the module: a client of the host cannot set the deadline of a call. */
const TIMEOUT_MS = 3_000;
/** The limit used by the clauses about response sizes. */
const SMALL_RESPONSE_BYTES = 1_000;
const POLL_MS = 20;
/** The time limit for a manifest. A provider that is down never returns one. */
const MANIFEST_MS = 4_000;

const AUTHORIZATION = 'Bearer dev-service:testkit:reference.use,modgate.modules.read';
const DIGEST = `sha256:${'a'.repeat(64)}`;

const RAW_MODE = 'needs raw mode; separate tests cover it';

/** The clauses that a client of a host cannot test. */
const EXCEPTIONS = {
  'configure.delivers': 'the host decides when; a separate test covers it',
  'configure.again': 'the host decides when',
  'configure.older': 'the host decides when',
  'request.header-injection': 'an HTTP client cannot send such a header to the host',
  'answer.status': 'every success status is 200 for a client',
  'answer.error-body': 'it does not reach a client',
  'answer.headers': 'no header of the provider reaches a client',
  'answer.not-json': 'is a 502 for a client',
  'answer.header-values': RAW_MODE,
  'answer.not-modified': RAW_MODE,
  'answer.bare': RAW_MODE,
  'answer.counted': 'a client does not see what the host counts',
  'answer.secrets': 'no secret of an outcome reaches a client',
  'failure.detail': 'no detail reaches a client',
  'answer.tool-result': 'separate tests cover it',
  'failure.preparing': 'no phase reaches a client',
  'failure.invalid': 'no phase reaches a client',
  'failure.starting': 'no phase reaches a client',
  'failure.connecting': 'no phase reaches a client',
  'failure.responding': 'no phase reaches a client',
  'failure.answered': 'no phase reaches a client',
  'signal.already-aborted': 'a client that has disconnected sends no request',
  'signal.no-listeners': 'the signal does not reach the host',
  'calls.late-answer': 'the deadline is set by the module',
  'calls.no-unhandled-rejection': 'the deadline is set by the module',
  'endpoints.shape': 'a client does not see endpoints',
  'endpoints.each': 'a client does not see endpoints',
  'close.handles': 'the host has handles of its own',
  'close.during-invoke': 'the host waits for the calls in flight',
  'lifetime.handles': 'the host has handles of its own',
  'lifetime.memory': 'the host has memory of its own',
};

/**
 * The same subject through a running host: `open` writes a descriptor, each call is an HTTP request, and
 * the close removes the descriptor.
 */
export function callThroughHost(subject: AdapterSubject, host: () => RunningHost): AdapterSubject {
  let running: Pick<RunningReference, 'operation'> = {};
  const adapter: ProviderAdapter = {
    ...subject.adapter,
    // A client sees a whole body; separate tests cover WebSockets.
    supports: { ...subject.adapter.supports, streams: false, upgrade: false },
    open: (config, context) => {
      const { kind } = subject.adapter;
      const manifest = describeReference(subject.adapter, running);
      return openThroughHost(host(), { kind, config }, manifest, context);
    },
  };
  const start: AdapterSubject['start'] = async (reference) => {
    const started = await subject.start(reference);
    if ('config' in started) running = started;
    return started;
  };
  return { ...subject, adapter, start, except: { ...subject.except, ...EXCEPTIONS } };
}

let modules = 0;

async function openThroughHost(
  host: RunningHost,
  provider: { readonly kind: string; readonly config: unknown },
  inline: Manifest,
  { scope }: OpenContext,
): Promise<Provider> {
  modules += 1;
  const name = `reference-${modules}`;
  const pool = new Pool(host.url);
  const mount = async (module: string, others: object) => {
    const file = `${module}.json`;
    // The log costs less than requests. Lines about the file without a state are warnings.
    const states = () =>
      host.logs().flatMap((line) => (line['file'] === file ? (line['state'] ?? []) : []));
    host.drop(file, describeModule(module, provider, others));
    scope.defer(async () => {
      host.remove(file);
      await waitUntil(`the removal of ${file}`, () => states().includes('removed'));
    });
    await waitUntil(file, () => states().length > 0);
  };
  scope.defer(() => pool.destroy());
  await mount(name, { manifest: { inline } });
  let small: Promise<void> | null = null;

  const invoke = async (invocation: Invocation): Promise<Outcome> => {
    const { operation, maxResponseBytes } = invocation;
    if (operation.kind !== 'http_route') return callBridge(pool, name, invocation);
    if (maxResponseBytes !== SMALL_RESPONSE_BYTES) return callRoute(pool, name, invocation);
    small ??= mount(`${name}-small`, {
      manifest: { inline },
      limits: { timeout_ms: TIMEOUT_MS, response_bytes: SMALL_RESPONSE_BYTES },
    });
    await small;
    return callRoute(pool, `${name}-small`, invocation);
  };
  let mounted: Promise<void> | null = null;
  return {
    invoke,
    check: async () => {
      const target = '/echo/check';
      const route = { kind: 'http_route', method: 'GET', target, body: null } as HttpRouteOperation;
      await callRoute(pool, name, { operation: route, headers: {} });
    },
    manifest: async () => {
      mounted ??= mount(`${name}-provided`, { manifest: { from: 'provider' } });
      await mounted;
      return readManifest(pool, `${name}-provided`);
    },
  };
}

function describeModule(module: string, provider: object, others: object): object {
  return {
    module,
    provider,
    limits: { timeout_ms: TIMEOUT_MS },
    // The host's own handling of failures is tested elsewhere.
    retry: { attempts: 0 },
    breaker: { failures: 1_000 },
    console: { release: DIGEST, ui: [DIGEST], grants: ['reference.use'] },
    ...others,
  };
}

async function callRoute(
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

async function callBridge(pool: Pool, module: string, { operation }: Invocation): Promise<Outcome> {
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

/** Aborts when the client disconnects, but not at the deadline, which the host enforces. */
async function send(
  pool: Pool,
  { method, path, headers, body }: Call,
  cancellation?: Invocation['cancellation'],
): Promise<Answer> {
  const controller = new AbortController();
  const listener = {
    handleEvent: () => {
      const reason = cancellation?.reason as ProviderFailure;
      if (reason.failure === 'cancelled') controller.abort(reason);
    },
  };
  cancellation?.addEventListener('abort', listener);
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
    cancellation?.removeEventListener('abort', listener);
  }
}

/** Converts a 502 to the provider's status or failure. */
function toOutcome({ status, text }: Answer): Outcome {
  if (status !== 502) throw new Error(`unexpected status ${status}: ${text}`);
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

async function readManifest(pool: Pool, name: string): Promise<Uint8Array> {
  // The host retries until the provider has started.
  const end = performance.now() + MANIFEST_MS;
  let module = await findModule(pool, name);
  while (module?.state !== 'live') {
    if (performance.now() > end) throw new ProviderFailure('unavailable', `${module?.reason}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    module = await findModule(pool, name);
  }
  const { text } = await send(pool, { method: 'GET', path: '/manifests', headers: {}, body: null });
  const { manifests } = JSON.parse(text) as { manifests: { name: string; manifest: unknown }[] };
  const found = manifests.find((entry) => entry.name === name);
  return Buffer.from(JSON.stringify(found?.manifest ?? null));
}
