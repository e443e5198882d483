import type { HttpRouteOperation } from '../../contract/index.js';
import { type ErrorDetail, HostError } from '../../errors.js';
import { inject, injectable } from '../../injection.js';
import type { RouteMatch } from '../../lib/route-table.js';
import type { GenerationSource, LiveModule, LiveRoute } from '../../modules/live-module.js';
import { authorize, authorizeModuleCaller } from '../authorization.js';
import { Answer, type Handler } from '../handler.js';
import { enforceRateLimit } from '../rate-limit.js';
import type { CallerRequest } from '../request.js';
import { GENERATIONS } from '../tokens.js';
import { readCheckedBody } from './body-policy.js';
import { callProvider } from './call-provider.js';
import { createEnvelopeHead, ENVELOPE_END } from './envelope.js';
import { readHopByHopNames } from './provider-headers.js';
import { readAnswerData } from './provider-response.js';

/** Where a request wants to go, canonical; `null` where its path can match nothing. */
export interface ForwardTarget {
  readonly module: string;
  readonly forwardTarget: string;
  readonly segments: readonly string[];
  readonly providerPath: string;
}

/** The forwarded routes (contract 1): module and route, capability, body policy, provider. */
@injectable()
export class Forward implements Handler<ForwardTarget | null> {
  readonly #generations: GenerationSource;

  constructor(@inject(GENERATIONS) generations: GenerationSource) {
    this.#generations = generations;
  }

  async execute(target: ForwardTarget | null, request: CallerRequest): Promise<Answer> {
    authorizeModuleCaller(request.actor);
    const found = target && this.#findRoute(target, request);
    if (!target || !found) throw notFound();
    const { module, match } = found;
    const route = match.value;
    request.trace.route = route.declaredPath;
    module.client.hold();
    try {
      const authorization = authorize(request.actor, {
        kind: 'capability',
        capability: route.capability,
      });
      enforceRateLimit(module, request.actor);
      const hopByHop = readHopByHopNames(request);
      // Nothing is awaited for a GET, which most requests are.
      const body = route.method === 'GET' ? null : await readRouteBody(module, route, request);
      const operation = createOperation(target, match, body);
      const data = await callProvider({
        authorization,
        module,
        operation,
        request,
        hopByHop,
        hasCallersBody: body !== null,
        timeoutMs: route.timeoutMs,
        retryPolicy: retryPolicyOf(route),
        describeError: describeRoute,
        parseResponse: readAnswerData,
      });
      const { params: pathParams } = match;
      const { providerPath } = target;
      const head = createEnvelopeHead({ module: module.name, route, providerPath, pathParams });
      return new Answer(authorization, [head, ...data, ENVELOPE_END]);
    } finally {
      module.client.release();
    }
  }

  #findRoute(
    target: ForwardTarget,
    request: CallerRequest,
  ): { module: LiveModule; match: RouteMatch<LiveRoute> } | null {
    const module = this.#generations.current.get(target.module);
    if (module === undefined) return null;
    request.trace.module = module.name;
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const match = module.routes.match(method, target.segments, target.providerPath);
    return match && { module, match };
  }
}

async function readRouteBody(
  { descriptor }: LiveModule,
  { method }: LiveRoute,
  request: CallerRequest,
): Promise<Buffer | null> {
  const body = await readCheckedBody(method, request, descriptor.limits.requestBytes);
  request.trace.bytesIn = body?.length ?? 0;
  return body;
}

function createOperation(
  { forwardTarget, providerPath }: ForwardTarget,
  { value: { method, declaredPath }, params }: RouteMatch<LiveRoute>,
  body: Buffer | null,
): HttpRouteOperation {
  const kind = 'http_route';
  return {
    kind,
    method,
    declaredPath,
    target: forwardTarget,
    providerPath,
    pathParams: params,
    body,
  };
}

/** What a 502 says of the question. */
function describeRoute({ name }: LiveModule, operation: HttpRouteOperation): ErrorDetail[] {
  return [
    { field: 'module', reason: name },
    { field: 'method', reason: operation.method },
    { field: 'declared_path', reason: operation.declaredPath },
    { field: 'provider_path', reason: operation.providerPath },
  ];
}

/** Contract 9: what does no harm when it is done twice. */
function retryPolicyOf({ method, idempotency }: LiveRoute): 'always' | 'with_key' | 'never' {
  if (method === 'GET' || idempotency === 'idempotent') return 'always';
  return idempotency === 'requires_key' ? 'with_key' : 'never';
}

function notFound(): HostError {
  return new HostError('not_found', 'no configured service-provided route matches', {
    nextActions: ['check the method and the path against the routes that the module declares'],
  });
}
