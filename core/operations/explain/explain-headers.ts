import type { Actor, Method } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { IDENTITY_HEADER } from '../../identity/identity-keys.js';
import { readMember } from '../../lib/read-member.js';
import type { LiveRoute } from '../../modules/live-module.js';
import { createProviderHeaders } from '../forward/headers-to-provider.js';
import { type CallerRequest, createRequestFacts } from '../request.js';
import type { ExplainedHeader } from './explanation.js';

/** Placeholders for values of the client and for values made per call; no real header can contain them. */
const FROM_CLIENT = '\u0000client';
const MADE_PER_CALL = '\u0000host';

/** Added to each attempt. */
const PER_ATTEMPT = ['traceparent', 'modgate-call-id', 'modgate-deadline-ms'] as const;

/**
 * The headers that the provider gets if the client sends every possible header: names, and the values that are
 * neither secret nor made per call.
 */
export function explainHeaders(
  descriptor: Descriptor,
  route: LiveRoute,
  actor: Actor | null,
): ExplainedHeader[] {
  const headers = createProviderHeaders({
    request: createFullRequest(route.method, actor),
    hopByHop: new Set(),
    forwardHeaders: descriptor.forwardHeaders,
    isClientTrace: true,
    hasBody: route.body !== 'none',
    isConditional: descriptor.responses.mode === 'raw',
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

function createFullRequest(method: Method, actor: Actor | null): CallerRequest {
  return {
    method,
    target: MADE_PER_CALL,
    actor: actor ?? { kind: 'service', id: MADE_PER_CALL, scopes: new Set() },
    requestId: MADE_PER_CALL,
    correlationId: MADE_PER_CALL,
    bodySha256: null,
    headers: { get: () => FROM_CLIENT, count: () => 1 },
    readBody: async () => Buffer.alloc(0),
    signal: new AbortController().signal,
    facts: createRequestFacts(),
  };
}

function describeHeader(name: string, value: string): ExplainedHeader {
  if (value === FROM_CLIENT) return { name, value: null, from: 'caller' };
  return { name, value: value.includes(MADE_PER_CALL) ? null : value, from: 'host' };
}

/** The host's own credentials for the provider, as the http kinds configure them. */
function listCredentials(config: unknown): ExplainedHeader[] {
  const auth = readMember(config, 'auth');
  const isKnown = readMember(auth, 'bearer') ?? readMember(auth, 'basic');
  const name =
    isKnown === undefined ? readMember(readMember(auth, 'header'), 'name') : 'authorization';
  if (typeof name !== 'string') return [];
  return [{ name: name.toLowerCase(), value: null, from: 'credentials' }];
}
