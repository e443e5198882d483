import type { ExplainInput } from '../../operations/explain/explain.js';
import type { ExplainCallsInput } from '../../operations/explain/explain-calls.js';
import type { ExplainedPath } from '../../operations/explain/explained-request.js';
import { findTargetProblem } from '../request/explain-target.js';
import { parseTarget } from '../request/target.js';
import type { HostContext } from '../request-context.js';
import { createQueryError, readQuery } from './query.js';

const AS_HEADER = 'modgate-explain-as';

const TEXT = { expected: 'a text', parse: (text: string) => text };
const PARAMETERS = { method: TEXT, target: TEXT, request_id: TEXT } as const;
const USAGE =
  'send /explain?method=GET&target=%2Fmodules%2Fcrm%2Fhttp%2Fcontacts or /explain?request_id=req_00000000-0000-4000-8000-000000000000';

/**
 * `GET /explain?method=&target=` or `GET /explain?request_id=`, encoded as any query is.
 * @throws HostError 400.
 */
export function readExplainInput(ctx: HostContext): ExplainInput | ExplainCallsInput {
  const { request_id: requestId, ...query } = readQuery(ctx, PARAMETERS, USAGE);
  if (requestId !== null) {
    for (const [name, value] of Object.entries(query)) {
      if (value !== null) throw createQueryError(name, 'not allowed with request_id', USAGE);
    }
    return { requestId: requireText('request_id', requestId) };
  }
  const method = requireText('method', query.method);
  const target = requireText('target', query.target);
  const { headers } = ctx.state.request;
  if (headers.count(AS_HEADER) > 1) throw createQueryError(AS_HEADER, 'repeated', USAGE);
  const explainAs = headers.get(AS_HEADER) ?? null;
  return { method, target, path: explainPath(target), explainAs };
}

function requireText(name: string, text: string | null): string {
  if (text) return text;
  throw createQueryError(name, 'missing', USAGE);
}

/** Parses the target as the host does, and adds the reason if no route can match it. */
export function explainPath(target: string): ExplainedPath {
  const parsed = parseTarget(target);
  if (parsed.kind !== 'unmatched') return parsed;
  const problem = findTargetProblem(target);
  if (problem === null) throw new Error('an unmatched target breaks a rule');
  return { ...parsed, problem };
}
