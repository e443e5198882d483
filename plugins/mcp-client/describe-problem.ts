import { ProtocolError, SdkError, SdkHttpError } from '@modelcontextprotocol/client';
import { isProviderFailure } from '../../core/contract/index.js';
import { ServerError } from './session.js';

/** An error whose message has no word of the server. */
export class McpProblem extends Error {
  override readonly name = 'McpProblem';
}

/** Describes an error for operators, without texts of the server, which could hold anything. */
export function describeProblem(error: unknown): string {
  if (isProviderFailure(error)) return error.detail;
  if (error instanceof McpProblem) return error.message;
  if (error instanceof SdkHttpError) {
    const { status } = error;
    const isRedirect = status >= 300 && status <= 399;
    return `HTTP status ${status}${isRedirect ? ', a redirect, which is not followed' : ''}`;
  }
  if (error instanceof ProtocolError || error instanceof ServerError) {
    return `the server answered with the error ${error.code}`;
  }
  if (error instanceof SdkError) return error.code;
  return 'the server does not follow the protocol';
}
