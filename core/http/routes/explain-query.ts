import { HostError } from '../../errors.js';
import type { ExplainInput } from '../../operations/explain/explain.js';
import type { ExplainCallsInput } from '../../operations/explain/explain-calls.js';
import type { ExplainedPath } from '../../operations/explain/explained-request.js';
import { findTargetProblem } from '../request/explain-target.js';
import { parseTarget } from '../request/target.js';
import type { HostContext } from '../request-context.js';

const AS_HEADER = 'modgate-explain-as';

interface Usage {
  readonly detail: string;
  readonly example: string;
}

const BY_TARGET: Usage = {
  detail: 'an explanation needs one method and one target',
  example: '/explain?method=GET&target=%2Fmodules%2Fcrm%2Fhttp%2Fcontacts',
};

const BY_REQUEST: Usage = {
  detail: 'an explanation of recorded calls needs one request_id alone',
  example: '/explain?request_id=req_00000000-0000-4000-8000-000000000000',
};

/**
 * `GET /explain?method=&target=` or `GET /explain?request_id=`, encoded as any query is.
 * @throws HostError 400.
 */
export function readExplainInput(ctx: HostContext): ExplainInput | ExplainCallsInput {
  const query = new URLSearchParams(ctx.querystring);
  if (query.has('request_id')) return readRequestId(query);
  const method = readOnly(query, 'method', BY_TARGET);
  const target = readOnly(query, 'target', BY_TARGET);
  const { headers } = ctx.state.request;
  if (headers.count(AS_HEADER) > 1) throw createQueryError(AS_HEADER, 'repeated', BY_TARGET);
  const explainAs = headers.get(AS_HEADER) ?? null;
  return { method, target, path: explainPath(target), explainAs };
}

/** Parses the target as the host does, and adds the reason if no route can match it. */
export function explainPath(target: string): ExplainedPath {
  const parsed = parseTarget(target);
  if (parsed.kind !== 'unmatched') return parsed;
  const fault = findTargetProblem(target);
  if (fault === null) throw new Error('an unmatched target breaks a rule');
  return { ...parsed, fault };
}

function readRequestId(query: URLSearchParams): ExplainCallsInput {
  for (const name of ['method', 'target']) {
    if (query.has(name)) throw createQueryError(name, 'not allowed with request_id', BY_REQUEST);
  }
  return { requestId: readOnly(query, 'request_id', BY_REQUEST) };
}

function readOnly(query: URLSearchParams, name: string, usage: Usage): string {
  const [value, ...others] = query.getAll(name);
  if (value === undefined || value === '') throw createQueryError(name, 'missing', usage);
  if (others.length > 0) throw createQueryError(name, 'repeated', usage);
  return value;
}

function createQueryError(field: string, reason: string, { detail, example }: Usage): HostError {
  return new HostError('validation_failed', detail, {
    errors: [{ field, reason }],
    nextActions: [`send ${example}`],
  });
}
