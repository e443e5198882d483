import type { Actor } from '../../contract/index.js';
import { findNearestName } from '../../document/suggest.js';
import { HostError } from '../../errors.js';
import { nameActor } from '../../lib/actor-name.js';
import type { RouteMatch } from '../../lib/route-table.js';
import type { LiveRoute } from '../../modules/live-module.js';
import { authorizeCapability, authorizeModuleCaller, DEFAULT_CALLERS } from '../authorization.js';
import {
  type ExplainedModule,
  type ExplainedPath,
  type ExplainedRecord,
  type ExplainedRequest,
  findRecord,
} from './explained-request.js';
import type { CheckName, ExplainedCheck, ExplainedEndpoint } from './explanation.js';
import { findNearestRoutes, listMethods } from './find-routes.js';

const UNAUTHORIZED = 401;
const NOT_FOUND = 404;
const BAD_GATEWAY = 502;
const PREFLIGHTS = 'for a preflight, list its origin in cors: it is then 204 before these checks';

/** Every check in the order of the host, with its outcome as far as it is known; none for a path of the host. */
export function listChecks(
  request: ExplainedRequest,
  records: readonly ExplainedRecord[],
  record: ExplainedRecord | null,
  match: RouteMatch<LiveRoute> | null,
  endpoints: readonly ExplainedEndpoint[],
): ExplainedCheck[] {
  const { path } = request;
  if (path.kind === 'host') return [];
  return [
    checkActor(request.actor),
    checkCallers(request, records),
    checkPath(path),
    checkModule(path, records, record),
    checkRoute(request, record?.live ?? null, match),
    checkCapability(request.actor, match),
    checkBody(),
    checkProvider(endpoints),
  ];
}

export function checkActor(actor: Actor | null): ExplainedCheck {
  if (actor !== null) return createCheck('actor', 'pass', nameActor(actor));
  return createCheck('actor', 'fail', 'the credentials are missing or not valid', {
    status: UNAUTHORIZED,
    next_actions: ['send a valid bearer token in the authorization header'],
  });
}

/** Names the option, which the Problem does not: an explanation is for operators. */
function checkCallers(
  { actor, path }: ExplainedRequest,
  records: readonly ExplainedRecord[],
): ExplainedCheck {
  if (actor === null) return createCheck('callers', 'unknown', 'there is no actor');
  const name = path.kind === 'host' ? null : path.module;
  const record = name === null ? null : findRecord(records, name);
  const callers = record?.live?.descriptor.callers ?? DEFAULT_CALLERS;
  const subject = record?.live ? `module '${name}'` : 'a module that is not live';
  const check = attempt('callers', `${subject} is open to ${nameActor(actor)}`, () =>
    authorizeModuleCaller(actor, callers),
  );
  if (check.outcome === 'pass') return check;
  return {
    ...check,
    detail: `${subject} is open to ${callers.join(' and ')}, not to a ${actor.kind}`,
    next_actions: record?.live ? [`add ${actor.kind} to callers in ${record.file}`] : [],
  };
}

function checkPath(path: ExplainedPath): ExplainedCheck {
  if (path.kind !== 'unmatched') return createCheck('path', 'pass', 'the path can match a route');
  const { rule, reason } = path.problem;
  return createCheck('path', 'fail', `${reason} (${rule})`, { status: NOT_FOUND });
}

export function checkModule(
  path: ExplainedPath,
  records: readonly ExplainedRecord[],
  record: ExplainedRecord | null,
): ExplainedCheck {
  if (path.kind !== 'module') return createCheck('module', 'unknown', 'the path names no module');
  if (record?.live) {
    return createCheck('module', 'pass', `module '${path.module}' is ${record.state}`);
  }
  if (record !== null) {
    const { state, file, reason, hint } = record;
    const why = reason === null ? '' : `: ${reason}`;
    const next_actions = hint === null ? [] : [hint];
    const detail = `module '${path.module}' is ${state} (${file})${why}`;
    return createCheck('module', 'fail', detail, { status: NOT_FOUND, next_actions });
  }
  const names = records.flatMap(({ name }) => name ?? []);
  const nearest = findNearestName(path.module, names);
  return createCheck('module', 'fail', `no descriptor has the module '${path.module}'`, {
    status: NOT_FOUND,
    next_actions: nearest === null ? [] : [`did you mean '${nearest}'?`],
  });
}

function checkRoute(
  { method, path }: ExplainedRequest,
  module: ExplainedModule | null,
  match: RouteMatch<LiveRoute> | null,
): ExplainedCheck {
  if (module === null) return createCheck('route', 'unknown', 'there is no module');
  if (match !== null) {
    return createCheck('route', 'pass', match.value.name);
  }
  const others = listMethods(module, path);
  const detail =
    others.length === 0
      ? 'no route of the module matches the path'
      : `the path has routes for ${others.join(', ')}, but not for ${method}`;
  const nearest = findNearestRoutes(module, method, path);
  const next_actions = nearest.length === 0 ? [] : [`nearest routes: ${nearest.join(', ')}`];
  if (method === 'OPTIONS') next_actions.push(PREFLIGHTS);
  return createCheck('route', 'fail', detail, { status: NOT_FOUND, next_actions });
}

function checkCapability(actor: Actor | null, match: RouteMatch<LiveRoute> | null): ExplainedCheck {
  if (match === null) return createCheck('capability', 'unknown', 'there is no route');
  const { capability } = match.value;
  if (actor === null)
    return createCheck('capability', 'unknown', `requires ${capability ?? 'none'}`);
  const held = actor.kind === 'system' ? 'a system needs none' : 'the actor has it';
  return attempt('capability', `${capability}: ${held}`, () => {
    authorizeCapability(actor, capability);
  });
}

export function checkBody(): ExplainedCheck {
  return createCheck('body', 'unknown', 'checked when it arrives; an invalid body is 400');
}

/** With every circuit breaker open the host makes no call. */
function checkProvider(endpoints: readonly ExplainedEndpoint[]): ExplainedCheck {
  if (endpoints.length === 0 || endpoints.some(({ state }) => state !== 'open')) {
    return createCheck(
      'provider',
      'unknown',
      'called for each request; without a valid response it is 502',
    );
  }
  return createCheck('provider', 'fail', 'the circuit breaker of every endpoint is open', {
    status: BAD_GATEWAY,
    next_actions: ['try again later'],
  });
}

/** Reports the error of the host itself. */
export function attempt(
  check: CheckName,
  passed: string,
  assertAllowed: () => void,
): ExplainedCheck {
  try {
    assertAllowed();
    return createCheck(check, 'pass', passed);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const { status, detail, nextActions } = error;
    return createCheck(check, 'fail', detail, { status, next_actions: nextActions });
  }
}

export function createCheck(
  check: CheckName,
  outcome: ExplainedCheck['outcome'],
  detail: string,
  more: Partial<Pick<ExplainedCheck, 'status' | 'next_actions'>> = {},
): ExplainedCheck {
  return { check, outcome, status: null, detail, next_actions: [], ...more };
}
