import type { Actor, Method } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { IDENTITY_HEADER } from '../../identity/identity-keys.js';
import { readMember } from '../../lib/read-member.js';
import { createProviderHeaders } from '../forward/provider-headers.js';
import { type CallerRequest, createRequestTrace } from '../request.js';
import type { ExplainedHeader } from './explanation.js';

/** Stands for what a caller may send, or the host makes anew for each call; no header can hold it. */
const CALLERS_OWN = '\u0000caller';
const MADE_PER_CALL = '\u0000host';

/** Added with each attempt (contract 1.6). */
const PER_ATTEMPT = ['traceparent', 'modgate-call-id', 'modgate-deadline-ms'] as const;

const BODILESS: ReadonlySet<Method> = new Set<Method>(['GET', 'DELETE']);

/**
 * The headers that the provider gets, from a caller who sends every header that there is: names, and the
 * values that are neither secret nor made for each call.
 */
export function explainHeaders(
  descriptor: Descriptor,
  method: Method,
  actor: Actor | null,
): ExplainedHeader[] {
  const headers = createProviderHeaders({
    request: createOmniscientRequest(method, actor),
    hopByHop: new Set(),
    forwardHeaders: descriptor.forwardHeaders,
    isCallersTrace: true,
    hasBody: !BODILESS.has(method),
  });
  return [
    ...Object.entries(headers).map(([name, value]) => describeHeader(name, value)),
    ...[...PER_ATTEMPT, ...(descriptor.identity ? [IDENTITY_HEADER] : [])].map((name) => ({
      name,
      value: null,
      from: 'host' as const,
    })),
    ...listCredentials(descriptor.provider.config),
  ];
}

function createOmniscientRequest(method: Method, actor: Actor | null): CallerRequest {
  return {
    method,
    actor: actor ?? { kind: 'service', id: MADE_PER_CALL, scopes: new Set() },
    requestId: MADE_PER_CALL,
    correlationId: MADE_PER_CALL,
    headers: { get: () => CALLERS_OWN, count: () => 1 },
    readBody: async () => Buffer.alloc(0),
    signal: new AbortController().signal,
    trace: createRequestTrace(),
  };
}

function describeHeader(name: string, value: string): ExplainedHeader {
  if (value === CALLERS_OWN) return { name, value: null, from: 'caller' };
  return { name, value: value.includes(MADE_PER_CALL) ? null : value, from: 'host' };
}

/** The host's own credentials at the provider, as the http kinds are given them (contract 6). */
function listCredentials(config: unknown): ExplainedHeader[] {
  const auth = readMember(config, 'auth');
  const isKnown = readMember(auth, 'bearer') ?? readMember(auth, 'basic');
  const name =
    isKnown === undefined ? readMember(readMember(auth, 'header'), 'name') : 'authorization';
  if (typeof name !== 'string') return [];
  return [{ name: name.toLowerCase(), value: null, from: 'credentials' }];
}
