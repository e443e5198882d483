import { type HostError, PROBLEMS } from '../errors.js';
import type { HostContext } from './exchange.js';
import type { RequestIds } from './ids.js';

/** The one error body of the host (contract 2), in wire names. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly request_id: string;
  readonly correlation_id: string;
  readonly errors: readonly { readonly field: string | null; readonly reason: string }[];
  readonly next_actions?: readonly string[];
}

const JSON_TYPE = 'application/json';
const PROBLEM_TYPE = 'application/problem+json';

export function createProblem(error: HostError, ids: RequestIds): Problem {
  return {
    type: `/problems/${error.code}`,
    title: PROBLEMS[error.code].title,
    status: error.status,
    code: error.code,
    detail: error.detail,
    request_id: ids.requestId,
    correlation_id: ids.correlationId,
    errors: error.errors,
    ...(error.nextActions.length > 0 && { next_actions: error.nextActions }),
  };
}

export function writeProblem(ctx: HostContext, ids: RequestIds, error: HostError): void {
  ctx.status = error.status;
  ctx.set({ ...error.headers });
  if (error.status === 401) ctx.set('www-authenticate', 'Bearer');
  ctx.set('content-type', asksForProblemType(ctx.req.headers.accept) ? PROBLEM_TYPE : JSON_TYPE);
  ctx.body = Buffer.from(JSON.stringify(createProblem(error, ids)));
}

/** Only a caller who names the type gets it: `interface.md` says application/json. */
export function asksForProblemType(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*') return false;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === PROBLEM_TYPE && !parameters.some((part) => /^q=0(?:\.0{0,3})?$/.test(part));
  });
}
