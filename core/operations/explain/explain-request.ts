import type { Method } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import type { LiveRoute } from '../../modules/live-module.js';
import { listChecks } from './explain-checks.js';
import { explainHeaders } from './explain-headers.js';
import { explainLimits } from './explain-limits.js';
import {
  type ExplainContext,
  type ExplainedPath,
  type ExplainedRecord,
  type ExplainedRequest,
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

/** Explains what the host would do with a request, step by step. */
export async function explainRequest(
  request: ExplainedRequest,
  context: ExplainContext,
): Promise<Explanation> {
  const { method, target, path, actor } = request;
  const record = findRecord(path, context.records);
  const module = record?.live ?? null;
  const [match, ...losers] = findRoutes(module, method, path);
  const endpoints = match && record ? listEndpoints(record, match.value) : [];
  const checks = listChecks(request, context.records, record, match ?? null, endpoints);
  return {
    method,
    target,
    verdict: evaluate(path, checks),
    actor: actor && { kind: actor.kind, id: actor.id, scopes: [...actor.scopes].sort() },
    path: describePath(path),
    checks,
    module: record && describeRecord(record),
    route: match ? { ...describeRoute(match.value), path_params: match.params } : null,
    losers: losers.map(({ value }) => describeRoute(value)),
    methods: listMethods(module, path),
    body: match && module ? explainBody(match.value.method, module.descriptor) : null,
    headers: match && module ? explainHeaders(module.descriptor, match.value.method, actor) : [],
    endpoints,
    limits: record ? await explainLimits(record, match?.value ?? null, context.documents) : [],
  };
}

/** The state of each endpoint for the route: the circuit breaker of either can be open. */
function listEndpoints(
  { endpoints }: ExplainedRecord,
  { method, declaredPath }: LiveRoute,
): ExplainedEndpoint[] {
  const name = `${method} ${declaredPath}`;
  return endpoints.map(({ endpoint, state, routes }) => {
    const route = routes.find((one) => one.route === name);
    return { endpoint, state: state === 'open' ? state : (route?.state ?? state) };
  });
}

/** Of several descriptors with one name, the live one. */
function findRecord(
  path: ExplainedPath,
  records: readonly ExplainedRecord[],
): ExplainedRecord | null {
  if (path.kind !== 'module') return null;
  const named = records.filter(({ name, live }) => (live?.name ?? name) === path.module);
  return named.find(({ live }) => live !== null) ?? named[0] ?? null;
}

function evaluate(path: ExplainedPath, checks: readonly ExplainedCheck[]): Explanation['verdict'] {
  if (path.kind === 'host') {
    return { status: null, detail: 'the path belongs to no module' };
  }
  const failed = checks.find(({ outcome }) => outcome === 'fail');
  if (failed !== undefined) return { status: failed.status, detail: failed.detail };
  if (isBridgePath(path)) return { status: null, detail: HANDLED_BY_BRIDGE };
  return { status: OK, detail: 'forwarded, if the body is valid and the provider responds' };
}

function describePath(path: ExplainedPath): Explanation['path'] {
  const fault = path.kind === 'unmatched' ? path.fault : null;
  if (path.kind !== 'module') {
    return { kind: path.kind, module: null, provider_path: null, forward_target: null, fault };
  }
  return {
    kind: isBridgePath(path) ? 'bridge' : 'module',
    module: path.module,
    provider_path: path.providerPath,
    forward_target: path.forwardTarget,
    fault,
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

export function explainBody(method: Method, { limits }: Descriptor): Explanation['body'] {
  if (method === 'GET') return { policy: 'ignored', max_bytes: null };
  if (method === 'DELETE') return { policy: 'empty', max_bytes: 0 };
  return { policy: 'json', max_bytes: limits.requestBytes };
}
