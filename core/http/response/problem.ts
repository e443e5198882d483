import { type HostError, PROBLEMS } from '../../errors.js';
import { JSON_TYPE, Reply } from '../../operations/reply.js';
import type { RequestIds } from '../request/ids.js';

/** The one error body of the host, in wire names. */
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

/** @param accept the client's `accept` header */
export function createProblemReply(
  error: HostError,
  ids: RequestIds,
  accept: string | undefined,
): Reply {
  const headers = Object.entries(error.headers).flat();
  if (error.status === 401) headers.push('www-authenticate', 'Bearer');
  const text = JSON.stringify(createProblem(error, ids));
  const contentType = asksForProblemType(accept) ? PROBLEM_TYPE : JSON_TYPE;
  return Reply.error(error.status, text, contentType, headers);
}

/** Only a client that names the type gets it; the default is application/json. */
export function asksForProblemType(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*') return false;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === PROBLEM_TYPE && !parameters.some((part) => /^q=0(?:\.0{0,3})?$/.test(part));
  });
}
