import { injectable } from '../../injection.js';
import type { GenerationSource, LiveRoute, WaitingSource } from '../../modules/live-module.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { Approvals } from '../approvals/approvals.js';
import { RESPONSE_CACHE, type ResponseCache } from '../cache/response-cache.js';
import type { ExplainedRouteCall } from '../explain/explained-request.js';
import { CREDENTIAL_HEADERS } from '../injection-tokens.js';
import { rateStep } from '../rate-limit.js';
import type { Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { type ReportedStep, type RouteStep, runSteps } from '../step.js';
import { acceptStep } from './accept-step.js';
import {
  actorStep,
  callersStep,
  capabilityStep,
  clientStep,
  moduleStep,
  pathStep,
  routeStep,
} from './access-steps.js';
import { cacheStep } from './cache-step.js';
import {
  bodyStep,
  connectionStep,
  idempotencyKeyStep,
  protocolStep,
  providerStep,
} from './call-steps.js';
import {
  type ForwardTarget,
  type MatchedRoute,
  RouteCall,
  type RouteServices,
} from './route-call.js';

/** The steps until the route is found and the caller authorized, which concern every request. */
const ACCESS_STEPS: readonly ReportedStep<RouteCall, ExplainedRouteCall>[] = [
  clientStep, // 403
  actorStep, // 401, 403, 429, 503
  callersStep, // 403
  pathStep, // 404
  moduleStep, // 404, 503
  routeStep, // 404
  capabilityStep, // 403
];

const CALL_STEPS: readonly RouteStep<RouteCall, ExplainedRouteCall>[] = [
  protocolStep, // 426
  acceptStep, // 404, 406
  rateStep, // 429, 503
  connectionStep, // 400
  idempotencyKeyStep, // 400
  bodyStep, // 400, 401, 408, 502
  cacheStep, // 502
  providerStep, // 502
];

/**
 * The steps of a request to a route of a module, in order, with the statuses of their failures. The
 * host forwards by running them; `explain` runs those that it can report.
 */
export const FORWARD_STEPS: typeof CALL_STEPS = [...ACCESS_STEPS, ...CALL_STEPS];

/** The steps of `CALL_STEPS` that concern a route, which never changes. */
const callSteps = new WeakMap<LiveRoute, typeof CALL_STEPS>();

function findCallSteps({ match: { value }, module }: MatchedRoute): typeof CALL_STEPS {
  const existing = callSteps.get(value);
  if (existing !== undefined) return existing;
  const steps = CALL_STEPS.filter((step) => step.appliesTo?.(value, module) !== false);
  callSteps.set(value, steps);
  return steps;
}

/** Handles forwarded routes by running their steps. */
@injectable(ModuleRegistry, CREDENTIAL_HEADERS, RESPONSE_CACHE, Approvals)
export class Forward implements Handler<ForwardTarget> {
  readonly #services: RouteServices;

  constructor(
    generations: GenerationSource & WaitingSource,
    credentialHeaders: readonly string[],
    responses: ResponseCache | null,
    approvals: Approvals,
  ) {
    this.#services = { generations, credentialHeaders, responses, approvals };
  }

  async execute(target: ForwardTarget, request: CallerRequest): Promise<Reply> {
    const call = new RouteCall(target, request, this.#services);
    try {
      const accessing = runSteps(ACCESS_STEPS, call);
      if (accessing !== undefined) await accessing;
      await runSteps(findCallSteps(call.matched), call);
      if (call.reply === null) throw new Error('the last step makes the reply');
      return call.reply;
    } finally {
      call.close();
    }
  }
}
