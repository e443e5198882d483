import type { Actor } from '../../contract/index.js';
import { ANONYMOUS, createAnonymous } from '../../lib/actor-name.js';
import { readModuleDocument } from '../../modules/module-documents.js';
import type { ModuleRecord } from '../../modules/module-record.js';
import { adviseOnCall, type StepName } from '../../steps.js';
import type { CallerRequest, ParsedTarget } from '../request.js';
import { type RecordedCall, toWireCall } from '../status/call-record.js';
import type { ModuleEntry, ModuleOverview, ModuleRecords } from '../status/module-overview.js';
import type { ExplainedRoles } from './decide-scope.js';
import { explainRequest } from './explain-request.js';
import type { ExplainContext, ExplainedRecord, ExplainedRequest } from './explained-request.js';
import type { ExplainedCheck, Explanation } from './explanation.js';
import type { TokenOwners } from './token-owners.js';

/** The steps before those that explain lists; all others follow them. */
const FIRST_STEPS: ReadonlySet<StepName> = new Set(['parser', 'client', 'origin', 'host']);

export interface ExplainInput {
  readonly method: string;
  /** The target as on a request line. */
  readonly target: string;
  readonly path: ParsedTarget;
  /**
   * The bearer token of the caller to explain; `null` explains the caller itself. It is never
   * logged or returned.
   */
  readonly explainAs: string | null;
  /** The address of the client to explain; `null` if it is unknown. */
  readonly client: string | null;
}

/** What a decision follows from. */
interface ExplainSources {
  readonly records: ModuleRecords;
  readonly overview: ModuleOverview;
  readonly folder: string;
  readonly roles: ExplainedRoles;
}

/** Finds the caller to explain: the one of the token, or the one who asks. */
export function findExplainedCaller(
  owners: TokenOwners,
  { explainAs, ...explained }: ExplainInput,
  request: CallerRequest,
): Actor | Promise<Actor | null> {
  if (explainAs === null) return request.actor;
  if (explainAs === ANONYMOUS) return createAnonymous('');
  return owners.find(explainAs, request, explained);
}

/** Returns each call with the recorded decision, and the current decision for the recorded actor. */
export async function compareCalls(
  calls: readonly RecordedCall[],
  parseTarget: (target: string) => ParsedTarget,
  sources: ExplainSources,
): Promise<object[]> {
  const context = await readContext(sources);
  const compared = [];
  for (const call of calls) {
    const repeatedRequest = repeatCall(call, parseTarget);
    const now = repeatedRequest && (await explainRequest(repeatedRequest, context));
    compared.push({ ...toWireCall(call), decision: describeDecision(call, now), now });
  }
  return compared;
}

export async function readContext({
  records,
  overview,
  folder,
  roles,
}: ExplainSources): Promise<ExplainContext> {
  const { modules } = await overview.read();
  const entries = new Map(modules.map((entry) => [entry.file, entry]));
  return {
    records: records.list().map((record) => describeRecord(record, entries.get(record.file))),
    documents: { read: (file: string) => readModuleDocument(folder, file) },
    roles,
  };
}

/** Combines the module of this process with the state of the whole host. */
function describeRecord(record: ModuleRecord, entry: ModuleEntry | undefined): ExplainedRecord {
  const { state, reason, hint } = entry ?? record;
  return { ...record, state, reason, hint, endpoints: entry?.endpoints ?? [] };
}

/**
 * Recreates the request of a recorded call, by its actor; returns `null` if its scopes or its path
 * are unknown.
 */
function repeatCall(
  call: RecordedCall,
  parseTarget: (target: string) => ParsedTarget,
): ExplainedRequest | null {
  const actor = readActor(call);
  const target = readTarget(call);
  if (actor === null || target === null) return null;
  const path = parseTarget(target);
  // Records lack the host name by which the mount was found.
  if (path.kind === 'host' && call.rejection?.module_named) return null;
  return { method: call.method, target, path, actor, client: call.client };
}

function readActor({ actor, scopes }: RecordedCall): Actor | null {
  if (actor === null || scopes === null) return null;
  const separator = actor.indexOf(':');
  const kind = actor.slice(0, separator) as Actor['kind'];
  return { kind, id: actor.slice(separator + 1), scopes: new Set(scopes) };
}

/** Records lack paths that matched a route: the names of parameters replace their values. */
function readTarget({ module, route, rejection }: RecordedCall): string | null {
  if (module === null || route === null) return rejection?.path_named ?? null;
  const path = route.replace(/\{([^{}.]+)(?:\.\.\.)?\}/g, '$1');
  return `/modules/${encodeURIComponent(module)}/http${encodeURI(path)}`;
}

interface DecidedCheck extends Omit<ExplainedCheck, 'check'> {
  readonly check: StepName;
}

/**
 * The recorded decision: the steps that passed, the one that rejected the request, and those not
 * reached.
 */
function describeDecision(call: RecordedCall, now: Explanation | null) {
  const decided = call.rejection?.step as StepName | null | undefined;
  const steps: StepName[] = (now?.checks ?? []).map(({ check }) => check);
  if (decided != null && !steps.includes(decided)) {
    const before = FIRST_STEPS.has(decided) ? 0 : steps.indexOf('provider');
    steps.splice(before === -1 ? steps.length : before, 0, decided);
  }
  const end = decided == null ? steps.length : steps.indexOf(decided);
  const checks = steps.map((check, index): DecidedCheck => {
    if (index === end) return describeFailure(call, check);
    const outcome = index < end ? 'pass' : 'unknown';
    const detail = index < end ? 'passed' : 'not reached';
    return { check, outcome, status: null, detail, next_actions: [] };
  });
  return { status: call.status, checks };
}

function describeFailure(call: RecordedCall, check: StepName): DecidedCheck {
  const { detail = '', reason = null, reason_detail: about = null } = call.rejection ?? {};
  const advice = adviseOnCall(toWireCall(call));
  return {
    check,
    outcome: 'fail',
    status: call.status,
    detail:
      reason === null ? detail : `${detail} (${about === null ? reason : `${reason}: ${about}`})`,
    next_actions: advice === null ? [] : [advice],
  };
}
