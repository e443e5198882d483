import { type HostError, PROBLEMS } from '../../errors.js';
import type { RequestIds } from '../request/ids.js';
import { JSON_TYPE, type Reply } from './reply.js';

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

const PROBLEM_TYPE = 'application/problem+json';

function createProblem(error: HostError, ids: RequestIds): Problem {
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

/** @param accept what the caller says of the types that it takes */
export function createProblemReply(
  error: HostError,
  ids: RequestIds,
  accept: string | undefined,
): Reply {
  const headers = Object.entries(error.headers).flat();
  if (error.status === 401) headers.push('www-authenticate', 'Bearer');
  const text = Buffer.from(JSON.stringify(createProblem(error, ids)));
  return {
    status: error.status,
    contentType: asksForProblemType(accept) ? PROBLEM_TYPE : JSON_TYPE,
    headers,
    body: { pieces: [text], length: text.length },
  };
}

/** Only a caller who names the type gets it: `interface.md` says application/json. */
export function asksForProblemType(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*') return false;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === PROBLEM_TYPE && !parameters.some((part) => /^q=0(?:\.0{0,3})?$/.test(part));
  });
}
