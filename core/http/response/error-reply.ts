import type { Log } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import { ANONYMOUS } from '../../lib/actor-name.js';
import { createOverloadError } from '../../operations/forward/overload.js';
import { ProviderError } from '../../operations/forward/provider-error.js';
import type { Reply } from '../../operations/reply.js';
import { ClientClosed } from '../../operations/request.js';
import { RejectedCall } from '../../provider/rejected-call.js';
import { isUnderModules } from '../request/target.js';
import type { RequestContext } from '../request-context.js';
import { findParserCode } from '../server/parser-code.js';
import { createProblemReply } from './problem.js';

/** Distinguishes the Problem from a provider's own error, which raw mode forwards. */
const ORIGIN = ['modgate-origin', 'host'];
const NO_HEADERS: readonly string[] = [];

/**
 * Converts any error of a step to a Problem; returns `null` when the client has closed the
 * connection.
 * @param challenges the challenges of a 401
 */
export function createErrorReply(
  error: unknown,
  request: RequestContext,
  log: Log,
  challenges: readonly string[],
): Reply | null {
  if (error instanceof ClientClosed) {
    if (!request.isInterrupted) request.req.destroy();
    return null;
  }
  if (error instanceof ProviderError) {
    request.facts.failure = error.failure;
    request.facts.failure_detail = error.failureDetail;
  } else if (error instanceof HostError) request.facts.failure_detail ??= findParserCode(error);
  const hostError = error instanceof RejectedCall ? createOverloadError(error) : error;
  const isExpected = hostError instanceof HostError;
  if (!isExpected) log.error({ err: error, request_id: request.requestId }, 'request failed');
  const problem = isExpected ? hostError : createInternalError(error);
  request.reject(problem);
  const isKnown = (request.authenticated?.kind ?? ANONYMOUS) !== ANONYMOUS;
  const headers =
    request.parsed.kind !== 'host' || isUnderModules(request.target) ? ORIGIN : NO_HEADERS;
  // A 401, and errors before the caller is known, must be the same for all modules.
  const tellsModule = request.authenticated !== null && problem.status !== 401;
  return createProblemReply(problem, request, {
    form: tellsModule ? request.facts.problems : 'problem',
    accept: request.headers.get('accept'),
    challenges,
    headers,
    ...(isKnown && error instanceof ProviderError && { nextActions: error.ownerActions }),
  });
}

/** Hides the error: the log has it, under the id of the request. */
function createInternalError(cause: unknown): HostError {
  return new HostError('internal_error', 'the host failed to handle the request', {
    nextActions: ['report the request_id to the operators of the host'],
    cause,
  });
}
