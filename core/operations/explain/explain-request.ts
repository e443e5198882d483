import type { Actor } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { IDENTITY_HEADER } from '../../identity/identity-keys.js';
import { ANONYMOUS } from '../../lib/actor-name.js';
import { listConditions } from '../../lib/header-names.js';
import type { RouteMatch } from '../../lib/routing/route-table.js';
import type { LiveRoute } from '../../modules/live-module.js';
import { parseEndpointBase } from '../../provider/endpoint-base.js';
import { BRIDGE_STEPS, HANDLED_BY_BRIDGE } from '../console/bridge-steps.js';
import { findBridgeModule } from '../console/find-bridge-module.js';
import { isBodyIgnored } from '../forward/body-policy.js';
import { FORWARD_STEPS } from '../forward/forward.js';
import { acceptedContentOf, createProviderHeaders } from '../forward/headers-to-provider.js';
import { isPublicRoute } from '../forward/route-call.js';
import { type ParsedTarget, readBridgePermission } from '../request.js';
import type { ReportedStep } from '../step.js';
import { explainLimits } from './explain-limits.js';
import {
  type ExplainContext,
  ExplainedBridgeCall,
  type ExplainedRecord,
  type ExplainedRequest,
  ExplainedRouteCall,
  findRecord,
  type IdentifiedRequest,
  isBridgePath,
} from './explained-request.js';
import type {
  ExplainedCheck,
  ExplainedEndpoint,
  ExplainedHeader,
  ExplainedRoute,
  Explanation,
} from './explanation.js';
import { findRoutes, listMethods } from './find-routes.js';

const OK = 200;
const FORWARDED_RAW =
  'forwarded, if the body is valid; raw mode passes on the status and the body of the provider';

/** Placeholders for values of the client and for values made per call; no real header can contain them. */
const FROM_CLIENT = '\u0000client';
const MADE_PER_CALL = '\u0000host';

/** The host is omitted if no setting defines it. */
const FORWARDED_CLIENT = Object.fromEntries(
  ['for', 'proto', 'host', 'prefix'].map((name) => [`x-forwarded-${name}`, MADE_PER_CALL]),
);

/** Headers that are added to each attempt. */
const PER_ATTEMPT = ['traceparent', 'modgate-call-id', 'modgate-deadline-ms'] as const;

/** Explains how the host would handle a request, step by step. */
export async function explainRequest(
  input: ExplainedRequest,
  context: ExplainContext,
): Promise<Explanation> {
  const actor = findCaller(input, context.records);
  const request = { ...input, actor, hasCredentials: input.actor?.kind !== ANONYMOUS };
  const { method, target, path } = request;
  const { checks, record, match, endpoints } = runChecks(request, context);
  const module = record?.live ?? null;
  const { basePath = '' } = (match && module?.descriptor.configDescription) ?? {};
  const others = findRoutes(module, method, path).slice(1);
  return {
    method,
    target,
    verdict: evaluate(path, checks, module?.descriptor.responses.mode === 'raw'),
    actor: actor && describeActor(actor),
    path: describePath(path, basePath),
    checks,
    module: record && describeRecord(record),
    route: match ? { ...describeRoute(match.value), path_params: match.params } : null,
    also_matches: others.map(({ value }) => describeRoute(value)),
    methods: listMethods(module, path),
    body: match && module ? explainBody(method, match.value, module.descriptor) : null,
    headers: match && module ? explainHeaders(module.descriptor, match.value, actor) : [],
    endpoints: addTargets(endpoints, path, basePath),
    limits: record ? await explainLimits(record, match?.value ?? null, context.documents) : [],
  };
}

function describeActor({ kind, id, scopes, roles }: Actor): Explanation['actor'] {
  return { kind, id, scopes: [...scopes].sort(), ...(roles !== undefined && { roles }) };
}

interface Checked {
  readonly checks: readonly ExplainedCheck[];
  /** The record of the module; `null` for a path that can match no route. */
  readonly record: ExplainedRecord | null;
  readonly match: RouteMatch<LiveRoute> | null;
  readonly endpoints: readonly ExplainedEndpoint[];
}

/** Without credentials, only a public route has an actor. */
function findCaller(
  { method, path, actor }: ExplainedRequest,
  records: readonly ExplainedRecord[],
): Actor | null {
  if (actor?.kind !== ANONYMOUS) return actor;
  if (path.kind === 'host') return null;
  const module = findRecord(records, path.module)?.live ?? null;
  return isPublicRoute(module, { method, handshake: null }, path) ? actor : null;
}

/** Runs the steps of the host, in order, as far as they can decide without a call. */
function runChecks(request: IdentifiedRequest, context: ExplainContext): Checked {
  const { path } = request;
  if (path.kind === 'host') return { checks: [], record: null, match: null, endpoints: [] };
  const permission = path.kind === 'module' ? readBridgePermission(path) : null;
  if (path.module !== null && permission !== null) {
    const record = findBridgeRecord(context.records, path.module);
    const explained = new ExplainedBridgeCall(
      request,
      { name: path.module, permission },
      context,
      record,
    );
    const checks = reportSteps(BRIDGE_STEPS, explained);
    return { checks, record, match: null, endpoints: [] };
  }
  const explained = new ExplainedRouteCall(request, path, context);
  // Read for each step, because a step finds the route.
  const checks = reportSteps(FORWARD_STEPS, explained, ({ appliesTo }) => {
    const { route, module } = explained;
    if (appliesTo === undefined) return true;
    return route !== null && module !== null && appliesTo(route.value, module);
  });
  const record = path.kind === 'module' ? explained.record : null;
  return { checks, record, match: explained.route, endpoints: explained.endpoints };
}

function reportSteps<Explained, Step extends ReportedStep<never, Explained>>(
  steps: readonly Step[],
  explained: Explained,
  isReported: (step: Step) => boolean = () => true,
): ExplainedCheck[] {
  return steps.flatMap((step) => {
    const report = isReported(step) ? step.explain?.(explained) : undefined;
    return report === undefined ? [] : [{ check: step.name, ...report }];
  });
}

/** Finds the module that the console bridge would call, otherwise the module with this name. */
function findBridgeRecord(
  records: readonly ExplainedRecord[],
  name: string,
): ExplainedRecord | null {
  const live = records.flatMap((record) => record.live ?? []);
  const generation = new Map(live.map((module) => [module.name, module]));
  const module = findBridgeModule(generation, { list: () => records }, name);
  return findRecord(records, module?.name ?? name);
}

function evaluate(
  path: ParsedTarget,
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

/** Adds the targets by endpoint if the base paths of endpoints differ. */
function addTargets(
  endpoints: readonly ExplainedEndpoint[],
  path: ParsedTarget,
  basePath: string,
): readonly ExplainedEndpoint[] {
  if (path.kind !== 'module') return endpoints;
  const hasOther = endpoints.some(({ endpoint }) => basePathOf(endpoint) !== basePath);
  if (basePath === '' && !hasOther) return endpoints;
  return endpoints.map((entry) => ({
    ...entry,
    target: basePathOf(entry.endpoint) + path.forwardTarget,
  }));
}

/** @param basePath the base path of the endpoints, which is the prefix of the provider's target */
function describePath(path: ParsedTarget, basePath: string): Explanation['path'] {
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
    ...(path.mount && { mount: path.mount }),
  };
}

function describeRecord(record: ExplainedRecord): Explanation['module'] {
  const { file, name, state, since, reason, hint, live } = record;
  const owner = live?.descriptor.owner;
  return {
    name: live?.name ?? name ?? '',
    file,
    state,
    since: since.toISOString(),
    reason,
    hint,
    digest: live?.manifestDigest ?? null,
    config_digest: live?.configDigest ?? null,
    ...(owner && { owner }),
  };
}

function describeRoute({ method, declaredPath, capability, stream }: LiveRoute): ExplainedRoute {
  return {
    method,
    declared_path: declaredPath,
    capability,
    ...(stream && { stream: stream.form }),
  };
}

function explainBody(
  requestMethod: string,
  route: Pick<LiveRoute, 'method' | 'body'>,
  { limits }: Descriptor,
): Explanation['body'] {
  const { body } = route;
  if (isBodyIgnored(requestMethod, route)) return { policy: 'ignored', max_bytes: null };
  if (body === 'none') return { policy: 'empty', max_bytes: 0 };
  return { policy: body === 'optional' ? 'optional' : 'json', max_bytes: limits.request_bytes };
}

/**
 * Reads the base path from the name of an endpoint, which is a URL for some kinds; empty for
 * others.
 */
function basePathOf(endpoint: unknown): string {
  if (typeof endpoint !== 'string' || !/^https?:/i.test(endpoint)) return '';
  // The resolved name follows the address: `http://10.0.0.7/api (crm.internal)`.
  const [url = ''] = endpoint.split(' ', 1);
  return URL.canParse(url) ? parseEndpointBase(url).path : '';
}

/**
 * The headers for the provider if the client sends every possible header: names, and the values
 * that are neither secret nor specific to a call.
 */
function explainHeaders(
  descriptor: Descriptor,
  route: LiveRoute,
  actor: Actor | null,
): ExplainedHeader[] {
  const isRaw = descriptor.responses.mode === 'raw';
  const headers = createProviderHeaders({
    request: createFullRequest(actor),
    conditions: listConditions(route.declared.method, isRaw),
    hopByHop: new Set(),
    forwardHeaders: descriptor.forward_headers,
    clientHeaders: descriptor.forward_client ? FORWARDED_CLIENT : {},
    isClientTrace: true,
    takesBody: route.body !== 'none',
    isRaw,
    sendsBytes: route.bodyBytes !== null,
    wanted: acceptedContentOf(route, route.responseBytes?.types?.[0]),
  });
  return [
    ...Object.entries(headers).map(([name, value]) => describeHeader(name, value)),
    ...listAttemptHeaders(descriptor, route).map((name) => ({
      name,
      value: null,
      from: 'host' as const,
    })),
    ...listCredentials(descriptor),
  ];
}

/** Omits the deadline of streams, which have none. */
function listAttemptHeaders({ identity }: Descriptor, route: LiveRoute): readonly string[] {
  const isStreamed = route.body === 'bytes' || (route.responseBytes ?? route.stream) !== null;
  const names = PER_ATTEMPT.filter((name) => !isStreamed || name !== 'modgate-deadline-ms');
  return identity ? [...names, IDENTITY_HEADER] : names;
}

function createFullRequest(actor: Actor | null) {
  return {
    actor: actor ?? { kind: 'service' as const, id: MADE_PER_CALL, scopes: new Set<string>() },
    requestId: MADE_PER_CALL,
    correlationId: MADE_PER_CALL,
    headers: { get: () => FROM_CLIENT, count: () => 1 },
  };
}

function describeHeader(name: string, value: string): ExplainedHeader {
  if (value === FROM_CLIENT) return { name, value: null, from: 'caller' };
  return { name, value: value.includes(MADE_PER_CALL) ? null : value, from: 'host' };
}

/** The credentials for the provider, as far as the adapter describes them. */
function listCredentials({ configDescription }: Descriptor): ExplainedHeader[] {
  const names = configDescription?.credentialHeaders ?? [];
  return names.map((name) => ({ name, value: null, from: 'credentials' }));
}
