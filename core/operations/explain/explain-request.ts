import type { Descriptor } from '../../descriptor/descriptor.js';
import type { LiveRoute } from '../../modules/live-module.js';
import { findBridgeRecord, listBridgeChecks } from './explain-bridge.js';
import { listChecks } from './explain-checks.js';
import { explainHeaders } from './explain-headers.js';
import { explainLimits } from './explain-limits.js';
import { basePathOf, readBasePath } from './explain-targets.js';
import {
  type ExplainContext,
  type ExplainedPath,
  type ExplainedRecord,
  type ExplainedRequest,
  findRecord,
  HANDLED_BY_BRIDGE,
  isBridgePath,
} from './explained-request.js';
import type {
  ExplainedCheck,
  ExplainedEndpoint,
  ExplainedRoute,
  Explanation,
} from './explanation.js';
import { findRoutes, listMethods } from './find-routes.js';

const OK = 200;
const FORWARDED_RAW =
  'forwarded, if the body is valid; raw mode passes on the status and the body of the provider';

/** Explains what the host would do with a request, step by step. */
export async function explainRequest(
  request: ExplainedRequest,
  context: ExplainContext,
): Promise<Explanation> {
  const { method, target, path, actor } = request;
  const { records } = context;
  const isBridge = isBridgePath(path);
  const find = isBridge ? findBridgeRecord : findRecord;
  const record = path.kind === 'module' ? find(records, path.module) : null;
  const module = record?.live ?? null;
  const [match, ...others] = findRoutes(module, method, path);
  const basePath = match && module ? readBasePath(module.descriptor.provider.config) : '';
  const endpoints = match && record ? listEndpoints(record, match.value) : [];
  const checks = isBridge
    ? listBridgeChecks(request, records, record)
    : listChecks(request, records, record, match ?? null, endpoints);
  return {
    method,
    target,
    verdict: evaluate(path, checks, module?.descriptor.responses.mode === 'raw'),
    actor: actor && { kind: actor.kind, id: actor.id, scopes: [...actor.scopes].sort() },
    path: describePath(path, basePath),
    checks,
    module: record && describeRecord(record),
    route: match ? { ...describeRoute(match.value), path_params: match.params } : null,
    also_matches: others.map(({ value }) => describeRoute(value)),
    methods: listMethods(module, path),
    body: match && module ? explainBody(match.value, module.descriptor) : null,
    headers: match && module ? explainHeaders(module.descriptor, match.value, actor) : [],
    endpoints: addTargets(endpoints, path, basePath),
    limits: record ? await explainLimits(record, match?.value ?? null, context.documents) : [],
  };
}

/** The state of each endpoint for the route: the circuit breaker of either can be open. */
function listEndpoints({ endpoints }: ExplainedRecord, { name }: LiveRoute): ExplainedEndpoint[] {
  return endpoints.map(({ endpoint, state, routes }) => {
    const route = routes.find((one) => one.route === name);
    return { endpoint, state: state === 'open' ? state : (route?.state ?? state) };
  });
}

function evaluate(
  path: ExplainedPath,
  checks: readonly ExplainedCheck[],
  isRaw: boolean,
): Explanation['verdict'] {
  if (path.kind === 'host') {
    return { status: null, detail: 'the path belongs to no module' };
  }
  const failed = checks.find(({ outcome }) => outcome === 'fail');
  if (failed !== undefined) return { status: failed.status, detail: failed.detail };
  if (isBridgePath(path)) return { status: null, detail: HANDLED_BY_BRIDGE };
  if (isRaw) return { status: OK, detail: FORWARDED_RAW };
  return { status: OK, detail: 'forwarded, if the body is valid and the provider responds' };
}

/** Where the base paths of endpoints differ, the target depends on the endpoint. */
function addTargets(
  endpoints: readonly ExplainedEndpoint[],
  path: ExplainedPath,
  basePath: string,
): readonly ExplainedEndpoint[] {
  if (path.kind !== 'module') return endpoints;
  const hasOther = endpoints.some(({ endpoint }) => basePathOf(endpoint) !== basePath);
  if (basePath === '' && !hasOther) return endpoints;
  return endpoints.map((one) => ({
    ...one,
    target: basePathOf(one.endpoint) + path.forwardTarget,
  }));
}

/** @param basePath of the endpoints, below which the provider gets the target */
function describePath(path: ExplainedPath, basePath: string): Explanation['path'] {
  const problem = path.kind === 'unmatched' ? path.problem : null;
  if (path.kind !== 'module') {
    return { kind: path.kind, module: null, provider_path: null, forward_target: null, problem };
  }
  return {
    kind: isBridgePath(path) ? 'bridge' : 'module',
    module: path.module,
    provider_path: path.providerPath,
    forward_target: basePath + path.forwardTarget,
    problem,
  };
}

function describeRecord(record: ExplainedRecord): Explanation['module'] {
  const { file, name, state, since, reason, hint, live } = record;
  return {
    name: live?.name ?? name ?? '',
    file,
    state,
    since: since.toISOString(),
    reason,
    hint,
    digest: live?.manifestDigest ?? null,
    config_digest: live?.configDigest ?? null,
  };
}

function describeRoute({ method, declaredPath, capability }: LiveRoute): ExplainedRoute {
  return { method, declared_path: declaredPath, capability };
}

function explainBody(
  { method, body }: Pick<LiveRoute, 'method' | 'body'>,
  { limits }: Descriptor,
): Explanation['body'] {
  if (method === 'GET') return { policy: 'ignored', max_bytes: null };
  if (body === 'none') return { policy: 'empty', max_bytes: 0 };
  return { policy: body === 'optional' ? 'optional' : 'json', max_bytes: limits.requestBytes };
}
