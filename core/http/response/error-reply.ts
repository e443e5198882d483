import type { Log } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import { ProviderError } from '../../operations/forward/provider-error.js';
import type { Reply } from '../../operations/reply.js';
import { ClientClosed } from '../../operations/request.js';
import type { RequestContext } from '../request-context.js';
import { createProblemReply } from './problem.js';

/** Converts any error of a step to a Problem; `null` when the client has closed the connection. */
export function createErrorReply(error: unknown, request: RequestContext, log: Log): Reply | null {
  if (error instanceof ClientClosed) {
    request.req.destroy();
    return null;
  }
  if (error instanceof ProviderError) request.trace.failure = error.failure;
  const isExpected = error instanceof HostError;
  if (!isExpected) log.error({ err: error, request_id: request.requestId }, 'request failed');
  const problem = isExpected ? error : createInternalError(error);
  return createProblemReply(problem, request, request.headers.get('accept'));
}

/** Reveals nothing of the error: the log has it, under the id of the request. */
function createInternalError(cause: unknown): HostError {
  return new HostError('internal_error', 'the host failed to handle the request', {
    nextActions: ['report the request_id to the operators of the host'],
    cause,
  });
}
