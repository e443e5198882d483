import { injectable } from 'tsyringe';
import type { HttpRouteOperation } from '../contract/index.js';
import { HostError } from '../errors.js';
import type { GenerationSource } from '../host/generation-source.js';
import type { LiveModule, LiveRoute } from '../host/live-module.js';
import type { RouteMatch } from '../lib/route-table.js';
import { GENERATIONS, inject } from '../tokens.js';
import { askProvider } from './ask-provider.js';
import { authoriseModuleCaller } from './authorise.js';
import { readJudgedBody } from './body-policy.js';
import type { CallerRequest } from './caller-request.js';
import { decide } from './decision.js';
import { createEnvelopeHead, ENVELOPE_END } from './envelope.js';
import { Answer, type Operation } from './operation.js';
import { readAnswerData } from './provider-answer.js';
import { readHopByHopNames } from './provider-headers.js';
import { admitCall } from './rate-limit.js';

/** Where a request wants to go, canonical; `null` where its path can match nothing. */
export interface ForwardTarget {
  readonly module: string;
  readonly forwardTarget: string;
  readonly segments: readonly string[];
  readonly providerPath: string;
}

/** The forwarded routes (contract 1): module and route, capability, body policy, provider. */
@injectable()
export class Forward implements Operation<ForwardTarget | null> {
  readonly #generations: GenerationSource;

  constructor(@inject(GENERATIONS) generations: GenerationSource) {
    this.#generations = generations;
  }

  async execute(target: ForwardTarget | null, request: CallerRequest): Promise<Answer> {
    authoriseModuleCaller(request.actor);
    const found = target && this.#findRoute(target, request);
    if (!target || !found) throw notFound();
    const release = found.module.guard.hold();
    try {
      return await this.#forward(target, found.module, found.match, request);
    } finally {
      release();
    }
  }

  async #forward(
    target: ForwardTarget,
    module: LiveModule,
    match: RouteMatch<LiveRoute>,
    request: CallerRequest,
  ): Promise<Answer> {
    const route = match.value;
    request.trace.route = route.declaredPath;
    const { capability } = route;
    const decision = decide(request.actor, { kind: 'capability', capability });
    admitCall(module, request.actor);

    const hopByHop = readHopByHopNames(request);
    const body = await readJudgedBody(route.method, request, module.descriptor.limits.requestBytes);
    request.trace.bytesIn = body?.length ?? 0;
    const operation: HttpRouteOperation = {
      kind: 'http_route',
      method: route.method,
      declaredPath: route.declaredPath,
      target: target.forwardTarget,
      providerPath: target.providerPath,
      pathParams: match.params,
      body,
    };
    const data = await askProvider({
      decision,
      module,
      operation,
      request,
      hopByHop,
      hasCallersBody: body !== null,
      timeoutMs: route.timeoutMs,
      isRepeatable: (headers) => isRepeatable(route, headers),
      describe: () => [
        { field: 'module', reason: module.name },
        { field: 'method', reason: operation.method },
        { field: 'declared_path', reason: operation.declaredPath },
        { field: 'provider_path', reason: operation.providerPath },
      ],
      judge: readAnswerData,
    });
    const head = createEnvelopeHead({
      module: module.name,
      route,
      providerPath: target.providerPath,
      pathParams: match.params,
    });
    return new Answer(decision, [head, ...data, ENVELOPE_END]);
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

/** Contract 9: what does no harm when it is done twice. */
function isRepeatable(
  { method, idempotency }: LiveRoute,
  headers: Readonly<Record<string, string>>,
): boolean {
  if (method === 'GET' || idempotency === 'idempotent') return true;
  return idempotency === 'requires_key' && Boolean(headers['idempotency-key']);
}

function notFound(): HostError {
  return new HostError('not_found', 'no configured service-provided route matches', {
    nextActions: ['check the method and the path against the routes that the module declares'],
  });
}
