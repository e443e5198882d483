import { writeChallenges } from '../../auth/credential-headers.js';
import type { ProblemForm } from '../../descriptor/sections/responses.js';
import { type HostError, PROBLEMS } from '../../errors.js';
import { namesMediaType } from '../../lib/media-type.js';
import { JSON_TYPE, Reply } from '../../operations/reply.js';
import type { RequestIds } from '../request/caller-headers.js';

/** The error body of the host, in wire names. */
interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly request_id: string;
  readonly correlation_id: string;
  readonly errors: readonly { readonly field: string | null; readonly reason: string }[];
  readonly next_actions?: readonly string[];
  /** What clients of OpenAI-compatible services read. */
  readonly error?: {
    readonly message: string;
    readonly type: string;
    readonly param: null;
    readonly code: string;
  };
}

const CHALLENGE_HEADER = 'www-authenticate';
const PROBLEM_TYPE = 'application/problem+json';

function createProblem(
  error: HostError,
  nextActions: readonly string[],
  ids: RequestIds,
  form: ProblemForm,
): Problem {
  const { code, detail } = error;
  return {
    type: `/problems/${code}`,
    title: PROBLEMS[code].title,
    status: error.status,
    code,
    detail,
    request_id: ids.requestId,
    correlation_id: ids.correlationId,
    errors: error.errors,
    ...(nextActions.length > 0 && { next_actions: nextActions }),
    ...(form === 'openai' && { error: { message: detail, type: code, param: null, code } }),
  };
}

interface ProblemReplyOptions {
  /** The client's `accept` header. */
  readonly accept?: string | undefined;
  /** The challenges of a 401, unless the error has its own. */
  readonly challenges?: readonly string[];
  /** Default: those of the error. */
  readonly nextActions?: readonly string[];
  /** Default: the form of every Problem of the host. */
  readonly form?: ProblemForm;
  /** Additional headers: names and values in turn. */
  readonly headers?: readonly string[];
}

export function createProblemReply(
  error: HostError,
  ids: RequestIds,
  {
    accept,
    challenges = [],
    nextActions = error.nextActions,
    form = 'problem',
    headers: additional = [],
  }: ProblemReplyOptions = {},
): Reply {
  const headers = Object.entries(error.headers).flat();
  // A surface with its own sign-in has its own challenge.
  if (error.status === 401 && error.headers[CHALLENGE_HEADER] === undefined) {
    for (const line of writeChallenges(challenges)) headers.push(CHALLENGE_HEADER, line);
  }
  headers.push(...additional);
  const text = JSON.stringify(createProblem(error, nextActions, ids, form));
  // Only a client that accepts the type by name receives it.
  const contentType = namesMediaType(accept, PROBLEM_TYPE) ? PROBLEM_TYPE : JSON_TYPE;
  return Reply.error(error.status, text, contentType, headers);
}
