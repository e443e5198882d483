import { HostError } from '../../errors.js';
import type { ExplainInput } from '../../operations/explain/explain.js';
import type { ExplainedPath } from '../../operations/explain/explained-request.js';
import { findTargetProblem } from '../request/explain-target.js';
import { parseTarget } from '../request/target.js';
import type { HostContext } from '../request-context.js';

const AS_HEADER = 'modgate-explain-as';

/** `GET /explain?method=&target=`, both encoded as any query is. @throws HostError 400. */
export function readExplainInput(ctx: HostContext): ExplainInput {
  const query = new URLSearchParams(ctx.querystring);
  const method = readOnly(query, 'method');
  const target = readOnly(query, 'target');
  const { headers } = ctx.state.request;
  if (headers.count(AS_HEADER) > 1) throw createQueryError(AS_HEADER, 'repeated');
  const explainAs = headers.get(AS_HEADER) ?? null;
  return { method, target, path: explainPath(target), explainAs };
}

/** Parses the target as the host does, and adds the reason if no route can match it. */
export function explainPath(target: string): ExplainedPath {
  const parsed = parseTarget(target);
  if (parsed.kind !== 'unmatched') return parsed;
  const fault = findTargetProblem(target);
  if (fault === null) throw new Error('an unmatched target breaks a rule');
  return { kind: 'unmatched', fault };
}

function readOnly(query: URLSearchParams, name: string): string {
  const [value, ...others] = query.getAll(name);
  if (value === undefined || value === '') throw createQueryError(name, 'missing');
  if (others.length > 0) throw createQueryError(name, 'repeated');
  return value;
}

function createQueryError(field: string, reason: string): HostError {
  return new HostError('validation_failed', 'an explanation needs one method and one target', {
    errors: [{ field, reason }],
    nextActions: ['send /explain?method=GET&target=%2Fmodules%2Fcrm%2Fhttp%2Fcontacts'],
  });
}
