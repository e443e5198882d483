import { batch, signal } from '@preact/signals';
import type { HostResource } from '../../../core/contract/listing.js';
import { API } from '../paths.js';
import { describeEnd, END_REASONS } from '../sessions/end-reasons.js';
import { hasEdits } from './edits.js';
import { formatJson, parseJson } from './exact-json.js';
import type { Problem, Session, SessionEnd } from './types.js';

/**
 * `undefined` until it is known; `null` when signed out. One that has ended otherwise stays until
 * the next sign-in if its page has edited fields.
 */
export const session = signal<Session | null | undefined>(undefined);
/** The reason why the session of this page has ended, until the next sign-in. */
export const sessionEnd = signal<SessionEnd | null>(null);

export function isSignedIn(): boolean {
  return Boolean(session.value) && sessionEnd.value === null;
}

export function endSession(reason: SessionEnd): void {
  batch(() => {
    if (session.value) sessionEnd.value ??= reason;
    if (!session.value || reason === 'signed_out' || !hasEdits()) session.value = null;
  });
}

export type Answer<T> =
  | { readonly ok: true; readonly status: number; readonly data: T }
  | { readonly ok: false; readonly status: number; readonly problem: Problem };

interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Calls the host as the session's actor. Rejects only after an abort: for an unreachable host it
 * returns a Problem with the status 0.
 * @param path below `/console/api`
 */
export async function call<T>(
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer<T>> {
  const { body, headers = {}, signal } = options;
  let response: Response;
  let text: string;
  try {
    response = await fetch(API + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: formatJson(body) }),
      ...(signal && { signal }),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    return { ok: false, status: 0, problem: UNREACHABLE };
  }
  const { status } = response;
  const data = parse(text);
  if (status === 401) endSession(findEnd(data));
  if (response.ok) return { ok: true, status, data: data as T };
  const problem = isProblem(data) ? data : createProblem(status);
  const isExplained = status === 403 && path.startsWith('/modules/');
  return {
    ok: false,
    status,
    problem: isExplained ? { ...problem, request: { method, target: path } } : problem,
  };
}

export const get = <T>(path: string, signal?: AbortSignal) =>
  call<T>('GET', path, signal ? { signal } : {});

/** Whether the actor holds the scope. */
export function hasScope(scope: string): boolean {
  const actor = session.value?.actor;
  if (!actor) return false;
  return actor.kind === 'system' || actor.scopes.includes(scope);
}

/** A route of the host that pages show. */
export function findResource(path: string): HostResource | undefined {
  return session.value?.resources.find((resource) => resource.path === path);
}

function parse(text: string): unknown {
  if (text === '') return null;
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function isProblem(data: unknown): data is Problem {
  return typeof data === 'object' && data !== null && 'code' in data && 'detail' in data;
}

function findEnd(data: unknown): SessionEnd {
  const reasons = isProblem(data) ? (data.errors ?? []).map(({ reason }) => reason) : [];
  return END_REASONS.find((end) => reasons.includes(describeEnd(end))) ?? 'unknown';
}

function createProblem(status: number): Problem {
  const detail = `the host answered with the status ${status} and no explanation`;
  return {
    status,
    code: 'unexpected_answer',
    title: 'Unexpected answer',
    detail,
    request_id: null,
  };
}

const UNREACHABLE: Problem = {
  status: 0,
  code: 'unreachable',
  title: 'Host not reachable',
  detail: 'the host does not answer',
  request_id: null,
  next_actions: ['check that the host is running and that you are connected, then try again'],
};
