import { type ActorKind, MODULE_HTTP_METHODS } from '../../contract/index.js';
import { DEFAULT_CALLERS } from '../../descriptor/sections/access.js';
import { findNearestName } from '../../document/suggest.js';
import { createUnavailable, HostError } from '../../errors.js';
import { nameActor } from '../../lib/actor-name.js';
import { isInRanges } from '../../lib/address-list.js';
import { findSpecialForm, type PathProblem } from '../../lib/routing/request-path.js';
import type { RouteTable } from '../../lib/routing/route-table.js';
import type { LiveRoute } from '../../modules/live-module.js';
import { mayCallRoute } from '../authorization.js';
import { decideScope } from '../explain/decide-scope.js';
import type { ExplainedModules, ExplainedRouteCall } from '../explain/explained-request.js';
import { findNearestRoutes, findRoutes, listMethods } from '../explain/find-routes.js';
import { decide, pass, unknown } from '../explain/step-report.js';
import { type ModuleTarget, pathOf } from '../request.js';
import type { ReportedStep, StepReport } from '../step.js';
import { identifyCaller } from './identify-caller.js';
import { type Caller, matchRoute, type RouteRequest, toServedMethod } from './route-call.js';

// Each step has a rule, which decides, and the texts with which `explain` reports it to operators.

type AccessStep = ReportedStep<RouteRequest, ExplainedRouteCall>;

/** A request to a route of a module or to its bridge, or an explained one. */
type Addressed = Pick<RouteRequest, 'module' | 'waiting' | 'allow' | 'recordModule'> & {
  readonly request: Pick<Caller, 'client'>;
};

/** Hides from addresses that may not call whether the module is live or waiting. */
const nameOf = ({ module, waiting }: Addressed) => module?.name ?? waiting?.module ?? 'not live';

/**
 * Admits the addresses of `allow`, before credentials are read. The 403 reveals that the module exists to a client
 * that guesses its name.
 */
export const clientStep: ReportedStep<Addressed, Addressed & Pick<ExplainedModules, 'record'>> = {
  name: 'client',
  run(call) {
    const { allow, request } = call;
    if (allow === undefined) return;
    // An unknown address is not checked.
    if (request.client !== null && isInRanges(request.client.address, allow.addresses)) return;
    call.recordModule?.();
    throw new HostError('forbidden', 'the module is not open to this address', {
      errors: [{ field: 'module', reason: nameOf(call) }],
      nextActions: ['call it from another network, or ask the operators of the host'],
      reason: 'address',
    });
  },
  explain(explained) {
    const { allow, request, record } = explained;
    if (allow === undefined) return undefined;
    const allowed = allow.addresses.join(', ');
    if (request.client === null) return unknown(`${record?.file} allows ${allowed}: name a client`);
    const { address } = request.client;
    return decide(
      () => this.run(explained),
      `${record?.file} allows ${address}`,
      () => ({
        detail: `${record?.file} allows ${allowed}, not ${address}`,
        next_actions: [`add ${address} to allow.addresses in ${record?.file}`],
      }),
    );
  },
};

/** A request, or an explained one. */
interface Identified {
  readonly request: Caller;
  /** Default false. */
  readonly isPublic?: boolean;
}

export const actorStep: ReportedStep<Identified, Identified & Pick<ExplainedRouteCall, 'caller'>> =
  {
    name: 'actor',
    run: (call) => call.request.authenticate(() => call.isPublic === true),
    explain(explained) {
      const { caller } = explained;
      return decide(() => this.run(explained), caller === null ? '' : nameActor(caller));
    },
  };

export const callersStep: AccessStep = {
  name: 'callers',
  run(call) {
    call.recordModule?.();
    // A public route is open to every caller; the capability step admits it.
    if (call.isPublic) return;
    call.authorization.admitCaller(call.request.actor, listCallers(call));
  },
  explain(explained) {
    const { caller, module, record } = explained;
    if (caller === null) return unknown('there is no actor');
    const subject = module === null ? 'a module that is not live' : `module '${module.name}'`;
    return decide(
      () => this.run(explained),
      `${subject} is open to ${nameActor(caller)}`,
      () => {
        const callers = listCallers(explained).join(' and ');
        return {
          detail: `${subject} is open to ${callers}, not to a ${caller.kind}`,
          next_actions: module === null ? [] : [`add ${caller.kind} to callers in ${record?.file}`],
        };
      },
    );
  },
};

function listCallers({ module, waiting }: RouteRequest): readonly ActorKind[] {
  return module?.descriptor.callers ?? waiting?.callers ?? DEFAULT_CALLERS;
}

export const pathStep: AccessStep = {
  name: 'path',
  run({ target }) {
    if (target.kind === 'unmatched') throw createNotFound(target.problem);
  },
  explain(explained) {
    const { target } = explained;
    const problem = target.kind === 'unmatched' ? target.problem : null;
    return decide(
      () => this.run(explained),
      'the path can match a route',
      () => ({ detail: `${problem?.reason} (${problem?.rule})`, next_actions: [] }),
    );
  },
};

export const moduleStep: AccessStep = {
  name: 'module',
  run({ module, waiting, target }) {
    if (module !== null) return;
    if (waiting !== null) throw createUnavailable(waiting.reason);
    throw createNotFound(findFormOf(target));
  },
  explain(explained) {
    const { target } = explained;
    if (target.kind !== 'module') return unknown('the path names no module');
    return explainModule(() => this.run(explained), target.module, explained);
  },
};

export const routeStep: AccessStep = {
  name: 'route',
  run(call) {
    const { module, target, request } = call;
    const match =
      module === null || target.kind !== 'module' ? null : matchRoute(module, request, target);
    if (!match)
      throw createNotFound(findFormOf(target), findNearMissOf(call), listOwnMethods(call));
    call.useRoute(match);
  },
  explain(explained) {
    const { module, target } = explained;
    if (module === null || target.kind !== 'module') return unknown('there is no module');
    const report = decide(
      () => this.run(explained),
      '',
      () => describeUnrouted(explained),
    );
    return report.outcome === 'pass' ? pass(explained.matched.match.value.name) : report;
  },
};

export const capabilityStep: AccessStep = {
  name: 'capability',
  run({ authorization, request, matched, module }) {
    const { value } = matched.match;
    if (value.isPublic) authorization.admitPublic(value);
    else authorization.admitCapability(request.actor, value.capability);
    if (module?.descriptor.identity) identifyCaller(module, request.actor, request.requestId);
  },
  explain(explained) {
    const { caller, route } = explained;
    if (route === null) return unknown('there is no route');
    const { capability, isPublic } = route.value;
    const rule = () => this.run(explained);
    if (isPublic && caller !== null) {
      return decide(rule, 'the route is public: it needs no capability');
    }
    if (caller === null) return unknown(`requires ${capability ?? 'none'}`);
    if (capability === null) return decide(rule, '');
    const detail = caller.kind === 'system' ? 'a system needs none' : 'the actor has it';
    return decideScope(rule, capability, `${capability}: ${detail}`, { ...explained, caller });
  },
};

/** Explains why a module is not live, or names a similar one. */
export function explainModule(
  rule: () => void,
  name: string,
  { record, records }: ExplainedModules,
): StepReport {
  return decide(rule, `module '${name}' is ${record?.state}`, () => {
    if (record !== null) {
      const { state, file, reason, hint } = record;
      const why = reason === null ? '' : `: ${reason}`;
      return {
        detail: `module '${name}' is ${state} (${file})${why}`,
        next_actions: hint === null ? [] : [hint],
      };
    }
    const nearest = findNearestName(
      name,
      records.flatMap((other) => other.name ?? []),
    );
    return {
      detail: `no descriptor has the module '${name}'`,
      next_actions: nearest === null ? [] : [`did you mean '${nearest}'?`],
    };
  });
}

const PREFLIGHTS = 'for a preflight, list its origin in cors: it is then 204 before these checks';

function describeUnrouted(explained: ExplainedRouteCall) {
  const { module, target } = explained;
  const { method } = explained.request;
  const others = listMethods(module, target);
  const form = findFormOf(target);
  const detail =
    others.length > 0
      ? `the path has routes for ${others.join(', ')}, but not for ${method}`
      : `no route of the module matches the path${form === null ? '' : `: ${form.reason} (${form.rule})`}`;
  const nearest = findNearestRoutes(module, method, target);
  const next_actions = [
    findNearMissOf(explained) ?? [],
    nearest.length === 0 ? [] : `nearest routes: ${nearest.join(', ')}`,
    method === 'OPTIONS' ? PREFLIGHTS : [],
  ].flat();
  return { detail, next_actions };
}

function findFormOf(target: RouteRequest['target']): PathProblem | null {
  return target.kind === 'module' ? findSpecialForm(pathOf(target)) : null;
}

function findNearMissOf({ module, request, target }: RouteRequest): string | null {
  if (module === null || target.kind !== 'module') return null;
  return findNearMiss(module.routes, request.method, target);
}

/** The methods of the routes of a path, for a caller who may call one of them. */
function listOwnMethods(call: RouteRequest): string[] {
  const { module, target } = call;
  const actor = call.caller === null ? null : call.request.actor;
  if (actor === null) return [];
  const routes = MODULE_HTTP_METHODS.flatMap((method) => {
    const [route] = findRoutes(module, method, target);
    return route === undefined ? [] : [{ method, route: route.value }];
  });
  const callers = listCallers(call);
  const isOwn = routes.some(({ route }) => mayCallRoute(actor, callers, route));
  return isOwn ? routes.map(({ method }) => method) : [];
}

/**
 * @param problem the problem of a path that matches no route, or only some; it reveals nothing
 * about modules
 */
function createNotFound(
  problem: PathProblem | null,
  nearMiss: string | null = null,
  methods: readonly string[] = [],
): HostError {
  const others = methods.join(' or ');
  return new HostError('not_found', 'no configured service-provided route matches', {
    errors: [
      ...(problem === null ? [] : [{ field: 'path', reason: problem.reason }]),
      ...(others === '' ? [] : [{ field: 'method', reason: `expected ${others}` }]),
    ],
    nextActions: [
      others === ''
        ? (nearMiss ?? 'check the method and the path against the routes that the module declares')
        : `use ${others}`,
    ],
  });
}

/**
 * The route that a request would match with another end of its path: `there is a route with a final
 * slash: …`.
 */
function findNearMiss(
  routes: RouteTable<LiveRoute>,
  method: string,
  { segments, encoded }: ModuleTarget,
): string | null {
  const hasFinalSlash = segments.at(-1) === '';
  const others = hasFinalSlash ? segments.slice(0, -1) : [...segments, ''];
  const match = routes.match(toServedMethod(method), others, encoded);
  if (match === null) return null;
  const end = hasFinalSlash ? 'without the final slash' : 'with a final slash';
  return `there is a route ${end}: ${match.value.name}`;
}
