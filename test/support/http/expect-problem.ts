import { expect } from 'chai';
import {
  headerValue,
  headerValues,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';

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

export const TITLES: Readonly<Record<string, string>> = {
  validation_failed: 'Validation failed',
  unauthorized: 'Unauthorized',
  forbidden: 'Forbidden',
  not_found: 'Not found',
  method_not_allowed: 'Method not allowed',
  conflict: 'Conflict',
  rate_limited: 'Rate limited',
  internal_error: 'Internal error',
  external_dependency_failure: 'External dependency failure',
  provider_error: 'Provider error',
  unavailable: 'Unavailable',
};

/** The code of each status that has only one. */
const CODES: Readonly<Record<number, string>> = {
  400: 'validation_failed',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'validation_failed',
  417: 'validation_failed',
  429: 'rate_limited',
  431: 'validation_failed',
  501: 'validation_failed',
  502: 'external_dependency_failure',
  503: 'unavailable',
};

const REQUIRED = [
  'type',
  'title',
  'status',
  'code',
  'detail',
  'request_id',
  'correlation_id',
  'errors',
];
const ID = /^[A-Za-z0-9._:-]{1,128}$/;
const INSIDE = /node:internal|\.[jt]s:\d+|ECONN|EPIPE|ENOTFOUND|UND_ERR|HPE_|127\.0\.0\.1/;

/** Checks everything that holds for every Problem. `code` defaults to that of the status. */
export function expectProblem(response: ReceivedResponse, status: number, code?: string): Problem {
  const text = response.body.toString('utf8');
  expect(response.status, text).to.equal(status);
  expect(headerValue(response.headers, 'content-type')).to.match(
    /^application\/(?:problem\+)?json(?:; *charset=utf-8)?$/i,
  );
  const problem = JSON.parse(text) as Problem;
  const expected = code ?? CODES[status] ?? '';
  expect(problem.code).to.equal(expected);
  expect(problem.type).to.equal(`/problems/${expected}`);
  expect(problem.title).to.equal(TITLES[expected]);
  expect(problem.status).to.equal(status);
  expect(problem.detail).to.be.a('string').and.not.equal('');
  expectMembers(problem);
  expectIds(response, problem);
  const challenges = headerValues(response.headers, 'www-authenticate');
  expect(challenges, 'www-authenticate').to.deep.equal(status === 401 ? ['Bearer'] : []);
  expect(text, 'reveals internal details').not.to.match(INSIDE);
  return problem;
}

/** The reason of a field in `errors`; `undefined` if it is not there. */
export function reasonOf(problem: Problem, field: string): string | undefined {
  return problem.errors.find((entry) => entry.field === field)?.reason;
}

function expectMembers(problem: Problem): void {
  const members = Object.keys(problem).filter((name) => name !== 'next_actions');
  expect(members).to.have.members(REQUIRED);
  expect(problem.errors).to.be.an('array');
  for (const entry of problem.errors) {
    expect(entry).to.have.all.keys('field', 'reason');
    expect(entry.field === null || typeof entry.field === 'string').to.equal(true);
    expect(entry.reason).to.be.a('string');
  }
  if (!('next_actions' in problem)) return;
  expect(problem.next_actions).to.be.an('array');
  for (const action of problem.next_actions ?? []) expect(action).to.be.a('string');
}

function expectIds(response: ReceivedResponse, problem: Problem): void {
  expect(problem.request_id).to.match(ID);
  expect(problem.correlation_id).to.match(ID);
  expect(headerValue(response.headers, 'x-request-id')).to.equal(problem.request_id);
  expect(headerValue(response.headers, 'x-correlation-id')).to.equal(problem.correlation_id);
}
