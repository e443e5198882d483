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
  const { headers } = ctx.state.exchange;
  if (headers.count(AS_HEADER) > 1) throw refusal(AS_HEADER, 'repeated');
  const explainAs = headers.get(AS_HEADER) ?? null;
  return { method, target, path: validateTarget(target), explainAs };
}

/** As the host judges the target of a request, with the reason where it can match nothing. */
export function validateTarget(target: string): ExplainedPath {
  const verdict = parseTarget(target);
  if (verdict.kind !== 'unmatched') return verdict;
  const fault = findTargetProblem(target);
  if (fault === null) throw new Error('a target that is unmatched must break a rule');
  return { kind: 'unmatched', fault };
}

function readOnly(query: URLSearchParams, name: string): string {
  const [value, ...others] = query.getAll(name);
  if (value === undefined || value === '') throw refusal(name, 'missing');
  if (others.length > 0) throw refusal(name, 'repeated');
  return value;
}

function refusal(field: string, reason: string): HostError {
  return new HostError('validation_failed', 'an explanation needs one method and one target', {
    errors: [{ field, reason }],
    nextActions: ['ask as /explain?method=GET&target=%2Fmodules%2Fcrm%2Fhttp%2Fcontacts'],
  });
}
