import {
  isProviderFailure,
  type Method,
  ProviderFailure,
  type Secret,
} from '../../contract/index.js';
import { HostError } from '../../errors.js';
import { maskSecrets } from '../../lib/secrets/mask-secrets.js';
import type { RouteSchemas } from '../../modules/route-schemas.js';
import type { OpenStream } from '../../provider/open-streams.js';
import type { ParseResponse, StreamedResponse, Upload } from '../../provider/provider-call.js';
import type { ExplainedRouteCall } from '../explain/explained-request.js';
import { fail, unknown } from '../explain/step-report.js';
import { JSON_TYPE, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import type { ReportedStep } from '../step.js';
import {
  assertHandshake,
  createWebSocketCall,
  createWebSocketReader,
} from '../websocket/websocket-call.js';
import { createWebSocketReply } from '../websocket/websocket-reply.js';
import {
  assertListedBody,
  assertSignedBody,
  isStreamedJson,
  readCheckedBody,
} from './body-policy.js';
import {
  type ByteResponse,
  listEnvelopeHeaders,
  listOtherHeaders,
  recordPieces,
  recordStream,
} from './byte-response.js';
import { fillCache } from './cached-call.js';
import { callProvider, type ProviderRequest } from './call-provider.js';
import { createCandidateOffer } from './candidate-offer.js';
import { admit, assertSupportedRoute } from './carried-route.js';
import { enforceInput } from './enforce-schemas.js';
import { createEventReply, createToError } from './event-reply.js';
import {
  createEnvelope,
  createResponseReader,
  type ForwardedResponse,
  splitEnvelope,
} from './forwarded-response.js';
import { acceptedContentOf, readHopByHopNames } from './headers-to-provider.js';
import { translateOverload } from './overload.js';
import { describeRoute, type MatchedRoute, type RouteCall } from './route-call.js';
import { holdBytesOf, JsonStream } from './streamed-json.js';

const BAD_GATEWAY = 502;
const MIN_ERROR_STATUS = 400;

/** Only a call can decide these steps. */
export type CallStep = ReportedStep<RouteCall, ExplainedRouteCall>;

/**
 * Rejects streams for clients of HTTP/1.0, which cannot detect a truncated body, and WebSockets
 * without a handshake.
 */
export const protocolStep: CallStep = {
  name: 'protocol',
  run({ matched, request }) {
    const { responseBytes, stream, isWebSocket } = matched.match.value;
    if (isWebSocket) assertHandshake(request);
    if (!request.isHttp10 || (responseBytes === null && stream === null)) return;
    throw new HostError('upgrade_required', 'the route streams its response', {
      errors: [{ field: 'version', reason: 'expected HTTP/1.1' }],
      nextActions: ['send the request with HTTP/1.1'],
      headers: { upgrade: 'HTTP/1.1', connection: 'upgrade, close' },
    });
  },
  explain({ route }) {
    if (route?.value.isWebSocket !== true) return undefined;
    return unknown('the route is a WebSocket: a request that is no handshake of one is 426');
  },
};

/** A malformed `connection` header is 400. */
export const connectionStep: ReportedStep<
  { readonly request: CallerRequest; hopByHop: ReadonlySet<string> },
  unknown
> = {
  name: 'parser',
  run(call) {
    call.hopByHop = readHopByHopNames(call.request);
  },
};

const IDEMPOTENCY_KEY = 'idempotency-key';
const VISIBLE_TEXT = /^[!-~]{1,255}$/;

/**
 * Repeated headers are joined with a space. A header that `connection` names does not reach the
 * provider.
 */
export const idempotencyKeyStep: CallStep = {
  name: IDEMPOTENCY_KEY,
  run({ matched: { match }, request, hopByHop }) {
    if (!match.value.requiresKey) return;
    const key = request.headers.get(IDEMPOTENCY_KEY);
    if (key !== undefined && VISIBLE_TEXT.test(key) && !hopByHop.has(IDEMPOTENCY_KEY)) return;
    const reason =
      key === undefined ? 'missing' : 'expected one line of 1 to 255 visible characters';
    throw new HostError('validation_failed', 'the route requires an idempotency-key', {
      errors: [{ field: IDEMPOTENCY_KEY, reason }],
      nextActions: ['send an idempotency-key, a new one for each call that is not a repetition'],
    });
  },
  explain({ route }) {
    if (route?.value.requiresKey !== true) return undefined;
    return unknown('the route requires an idempotency-key; a call without one is 400');
  },
};

export const bodyStep: CallStep = {
  name: 'body',
  run(call) {
    // The body of a GET is ignored.
    return call.matched.match.value.method === 'GET' ? checkContent(call) : readBody(call);
  },
  explain({ route }) {
    const { bodyBytes } = route?.value ?? {};
    if (!bodyBytes) return unknown('checked when it arrives; an invalid body is 400');
    const { types, maxBytes } = bodyBytes;
    const listed = types?.join(', ') ?? 'any media type';
    return unknown(`streamed: ${listed}, at most ${maxBytes} bytes; another body is 400`);
  },
};

async function readBody(call: RouteCall): Promise<void> {
  const { matched, request, facts } = call;
  const { limits, owner } = matched.module.descriptor;
  const { bodyBytes } = matched.match.value;
  try {
    if (bodyBytes === null) {
      const isStreamed = isStreamedJson(matched, request);
      const body = await readCheckedBody(matched.match.value, request, limits, isStreamed);
      if (body === null || Buffer.isBuffer(body)) call.body = body;
      else call.upload = body;
    } else if (request.bodySha256 === null) {
      assertListedBody(request.headers, bodyBytes);
      call.upload = request.openUpload(bodyBytes.maxBytes, limits);
    } else {
      // A signature covers the whole body.
      assertListedBody(request.headers, bodyBytes);
      const body = await request.readBody(Math.min(limits.request_bytes, bodyBytes.maxBytes));
      call.body = body.length === 0 ? null : body;
      facts.bytes_in = body.length;
      facts.request_sha256 = request.bodySha256;
    }
  } catch (error) {
    throw translateOverload(error, describeRoute(matched), owner);
  }
  if (call.upload === null) facts.bytesIn = call.body?.length ?? 0;
  await checkContent(call);
}

/**
 * Checks the body against the credentials, which may cover it (step actor), and the schemas of the
 * route.
 */
function checkContent({ matched, request, body }: RouteCall): void | Promise<void> {
  const { schemas } = matched.match.value;
  if (request.bodySha256 !== null) assertSignedBody(request, body);
  if (schemas !== null) return checkInput(schemas, matched, request, body);
}

async function checkInput(
  schemas: RouteSchemas,
  matched: MatchedRoute,
  request: CallerRequest,
  body: Buffer | null,
): Promise<void> {
  try {
    await enforceInput(schemas, matched.target.forwardTarget, body, request);
  } catch (error) {
    throw translateOverload(error, describeRoute(matched), matched.module.descriptor.owner);
  }
}

export const providerStep: CallStep = {
  name: 'provider',
  async run(call) {
    // The cache has served the request.
    if (call.reply !== null) return;
    const { matched } = call;
    if (!matched.match.value.isPlain) assertSupportedRoute(matched);
    const admitted = matched.match.value.isPlain ? null : admit(call);
    try {
      const providerRequest = createRouteRequest(call);
      const response =
        call.cacheEntry === null
          ? await callProvider(providerRequest)
          : await fillCache(call, call.cacheEntry, providerRequest);
      call.reply = createReply(call, response, admitted);
    } catch (error) {
      admitted?.close();
      throw error;
    }
  },
  explain({ endpoints, credentials }) {
    if (endpoints.length === 0 || endpoints.some(({ state }) => state !== 'open')) {
      const called = 'called for each request; without a valid response it is 502';
      return unknown(credentials === null ? called : `${called}; ${credentials}`);
    }
    return fail(BAD_GATEWAY, {
      detail: 'the circuit breaker of every endpoint is open',
      next_actions: ['try again later'],
    });
  },
};

/**
 * A provider can respond before the last byte of a request. An error is forwarded at once; a
 * success only once the JSON body is valid.
 */
function parseAfterUpload<T>(
  { upload, matched }: RouteCall,
  read: ParseResponse<T>,
): ParseResponse<T> {
  if (upload === null || matched.match.value.bodyBytes !== null) return read;
  return async (outcome, endpoint, operation) => {
    if (outcome.status < MIN_ERROR_STATUS) await awaitUpload(upload);
    return read(outcome, endpoint, operation);
  };
}

async function awaitUpload(upload: Upload): Promise<void> {
  try {
    await upload.waitForEnd();
  } catch (cause) {
    if (isProviderFailure(cause)) throw cause;
    throw new ProviderFailure('cancelled', 'the body of the request is not valid', { cause });
  }
}

/** Creates the call of the provider for a request with a validated body. */
export function createRouteRequest(call: RouteCall): ProviderRequest<ForwardedResponse> {
  const { authorization, matched, request, hopByHop } = call;
  const { module, target, match } = matched;
  const { name, declaredPath, timeoutMs, isRepeatable, bodyBytes, isWebSocket } = match.value;
  const { handshake } = request;
  const opening =
    isWebSocket && handshake !== null ? createWebSocketCall(handshake, hopByHop) : null;
  const parse = createParser(call);
  return {
    authorization,
    module,
    request,
    route: name,
    target,
    hopByHop,
    timeoutMs: Math.max(1, timeoutMs - call.waitedMs),
    isRepeatable,
    operation: {
      kind: 'http_route',
      method: chooseMethod(call),
      declaredPath,
      target: target.forwardTarget,
      providerPath: target.providerPath,
      pathParams: match.params,
      body: call.body,
      ...(call.upload !== null && { bodyStream: call.upload }),
      ...(opening !== null && { upgrade: 'websocket' as const }),
    },
    ...(opening !== null && { headers: opening.headers }),
    upload: call.upload,
    sendsBytes: bodyBytes !== null,
    wanted: acceptedContentOf(match.value),
    carried: match.value,
    response: opening === null ? streamedResponseOf(matched, request) : null,
    describeCall: () => describeRoute(matched),
    parseResponse: opening === null ? parse : createWebSocketReader(opening, parse),
    // A handshake is not copied: two providers cannot share one connection.
    onAnswer:
      module.candidate === null || opening !== null
        ? null
        : createCandidateOffer(module.candidate, call),
  };
}

/** Cached responses that a write may have changed are removed, regardless of its response. */
function createParser(call: RouteCall): ParseResponse<ForwardedResponse> {
  const { matched, credentialHeaders, request, responses } = call;
  const parse = parseAfterUpload(call, createResponseReader(matched, credentialHeaders, request));
  if (!matched.match.value.clearsCache || responses === null) return parse;
  const { module, target } = matched;
  return (outcome, source, operation) => {
    if (outcome.status < MIN_ERROR_STATUS) {
      responses.purge({ module: module.name, path: target.providerPath, isPrefix: false });
    }
    return parse(outcome, source, operation);
  };
}

/** Returns `null` for a buffered response. */
function streamedResponseOf(
  matched: MatchedRoute,
  request: CallerRequest,
): StreamedResponse | null {
  const { match, module } = matched;
  const { responseBytes, stream } = match.value;
  if (responseBytes !== null) return { maxBytes: responseBytes.maxBytes, holdBytes: 0 };
  if (stream === null) {
    const holdBytes = holdBytesOf(matched, request);
    if (holdBytes === null) return null;
    return { maxBytes: module.descriptor.limits.response_bytes, holdBytes };
  }
  const events = { idleMs: module.descriptor.limits.stream.idle_ms };
  return { maxBytes: Number.MAX_SAFE_INTEGER, holdBytes: 0, events };
}

/** A provider that receives HEAD reports the length of its response. */
function chooseMethod({ request, matched: { module, match } }: RouteCall): Method | 'HEAD' {
  const { method, responseBytes } = match.value;
  const passesHeads = responseBytes !== null || module.descriptor.responses.mode === 'raw';
  return request.method === 'HEAD' && passesHeads && module.client.streams ? 'HEAD' : method;
}

export function createReply(
  call: RouteCall,
  response: ForwardedResponse,
  admitted: OpenStream | null,
): Reply {
  const { request, authorization, matched, facts } = call;
  const { actor, handshake } = request;
  if (response.mode === 'websocket') {
    if (admitted === null || handshake === null) throw new Error('a WebSocket has a handshake');
    const opened = createWebSocketReply(call, handshake, response, admitted);
    return Reply.upgraded(authorization, opened);
  }
  // A response to a handshake without a WebSocket.
  if (matched.match.value.isWebSocket) admitted?.close();
  // Responses for callers without credentials may be shared.
  const { cacheControl, publicCacheControl } = response.exposed ?? {};
  const shared = { cacheControl: actor.kind === 'anonymous' ? publicCacheControl : cacheControl };
  if (response.mode === 'events') {
    const events = createEventReply(call, response, admitted);
    return Reply.forwarded(authorization, { ...events, ...response.exposed, ...shared });
  }
  if (response.mode === 'bytes') {
    const { bytes, exposed } = response;
    recordBytes(bytes, call);
    const isRaw = matched.module.descriptor.responses.mode === 'raw';
    const envelope = isRaw ? [] : listEnvelopeHeaders(matched);
    return Reply.forwarded(authorization, {
      ...bytes,
      ...shared,
      headers: [
        ...bytes.headers,
        ...envelope,
        ...(exposed === null ? [] : listOtherHeaders(exposed)),
      ],
      exposed: [...bytes.exposed, ...namesOf(envelope), ...(exposed?.exposed ?? [])],
    });
  }
  if (response.mode === 'json') {
    const { status, contentType, source, exposed } = response;
    source.toError = createToError(call.matched);
    const isRaw = matched.module.descriptor.responses.mode === 'raw';
    const envelope = isRaw ? null : splitEnvelope(matched.target, matched.match);
    const stream = new JsonStream(source, envelope);
    const wholeBody = { pieces: [], contentType: contentType ?? JSON_TYPE, contentLength: null };
    const body = { ...wholeBody, status, stream, headers: [] };
    return Reply.forwarded(authorization, { ...body, ...exposed, ...shared });
  }
  if (response.mode === 'raw') {
    facts.failure_detail = describeOmitted(response.raw.omitted, matched.module.secrets);
    return Reply.forwarded(authorization, { ...response.raw, ...response.exposed, ...shared });
  }
  const pieces = createEnvelope(matched.target, matched.match, response.data);
  if (response.exposed === null) return Reply.ok(authorization, pieces);
  const envelope = { status: 200, pieces, contentType: JSON_TYPE };
  return Reply.forwarded(authorization, { ...envelope, ...response.exposed, ...shared });
}

/** Hides credentials, which a provider can repeat in a header. */
function describeOmitted(detail: string | undefined, secrets: readonly Secret[]): string | null {
  if (detail === undefined) return null;
  return maskSecrets(
    detail,
    secrets.map((secret) => secret.reveal()),
  );
}

function namesOf(headers: readonly string[]): string[] {
  return headers.filter((_, index) => index % 2 === 0);
}

/** The failure of a streamed body is known only after the head. */
function recordBytes(bytes: ByteResponse, call: RouteCall): void {
  const { stream } = bytes;
  if (stream === null) {
    recordPieces(bytes, call.request);
    return;
  }
  stream.toError = createToError(call.matched);
  recordStream(stream, call.request);
}
