import { isProviderFailure, type Method, ProviderFailure } from '../../contract/index.js';
import type { CallObserver } from '../../provider/call-observer.js';
import type { ParseResponse, StreamedResponse, Upload } from '../../provider/provider-call.js';
import { describeRouteCall } from '../approvals/route-arguments.js';
import type { FoundOperation } from '../exposed/exposed-operations.js';
import type { CallerRequest } from '../request.js';
import { createWebSocketCall, createWebSocketReader } from '../websocket/websocket-call.js';
import { isBodyIgnored } from './body-policy.js';
import type { ProviderRequest } from './call-provider.js';
import {
  createResponseReader,
  type ForwardedResponse,
  holdBytesOf,
  mayBeBytes,
} from './forwarded-response.js';
import { acceptedContentOf } from './headers-to-provider.js';
import { describeRoute, type MatchedRoute, type RouteCall } from './route-call.js';

const MIN_ERROR_STATUS = 400;

/**
 * A provider can respond before the last byte of a request. An error is forwarded at once; a
 * success only once the JSON body is valid.
 */
function parseAfterUpload<T>(upload: Upload, read: ParseResponse<T>): ParseResponse<T> {
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
  const { name, declaredPath, timeoutMs, isRepeatable, body, isWebSocket, options } = match.value;
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
    isRepeatable: isRepeatable && (!call.sendsBytes || call.body === null),
    operation: {
      kind: 'http_route',
      method: request.method === 'HEAD' ? chooseHeadMethod(matched, request) : match.value.method,
      declaredPath,
      target: target.forwardTarget,
      providerPath: target.providerPath,
      pathParams: match.params,
      ...(options !== undefined && { options }),
      body: call.body,
      ...(call.upload !== null && { bodyStream: call.upload }),
      ...(opening !== null && { upgrade: 'websocket' as const }),
    },
    ...(opening !== null && { headers: opening.headers }),
    upload: call.upload,
    takesBody: body !== 'none' && !isBodyIgnored(request.method, match.value),
    sendsBytes: call.sendsBytes,
    wanted: acceptedContentOf(match.value, request.headers.get('accept')),
    carried: match.value,
    response: opening === null ? streamedResponseOf(matched, request) : null,
    describeCall: () => describeRoute(matched),
    admit: call.exposed === null ? null : createAdmission(call, call.exposed),
    parseResponse: opening === null ? parse : createWebSocketReader(opening, parse),
    // A handshake is not observed: its answer is a connection.
    onAnswer: module.observer === null || opening !== null ? null : observe(module.observer, call),
  };
}

/** Admits the call of an agent, with the version that the request began with. */
function createAdmission(call: RouteCall, operation: FoundOperation): () => Promise<void> {
  const { approvals, matched, request } = call;
  const found = { module: matched.module, operation };
  return () => approvals.admit(found, () => describeRouteCall(call), request);
}

/** Cached responses that a write may have changed are removed, regardless of its response. */
function createParser(call: RouteCall): ParseResponse<ForwardedResponse> {
  const { matched, credentialHeaders, request, responses, upload, sendsBytes } = call;
  const { clearsCache } = matched.match.value;
  const read = createResponseReader(matched, credentialHeaders, request);
  const parse = upload === null || sendsBytes ? read : parseAfterUpload(upload, read);
  if (!clearsCache || responses === null) return parse;
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
  if (responseBytes !== null && mayBeBytes(matched, request)) {
    const { maxBytes, besideJson } = responseBytes;
    const { response_bytes } = module.descriptor.limits;
    return { maxBytes: besideJson ? Math.max(maxBytes, response_bytes) : maxBytes, holdBytes: 0 };
  }
  if (stream === null) {
    const holdBytes = holdBytesOf(matched, request);
    if (holdBytes === null) return null;
    return { maxBytes: module.descriptor.limits.response_bytes, holdBytes };
  }
  const events = { idleMs: module.descriptor.limits.stream.idle_ms };
  return { maxBytes: Number.MAX_SAFE_INTEGER, holdBytes: 0, events };
}

/** A provider that receives HEAD reports the length of its response. */
function chooseHeadMethod(matched: MatchedRoute, request: CallerRequest): Method | 'HEAD' {
  const { module, match } = matched;
  const { method } = match.value;
  const passesHeads = mayBeBytes(matched, request) || module.descriptor.responses.mode === 'raw';
  return passesHeads && module.client.streams ? 'HEAD' : method;
}

/** @returns what gets the answered calls; `null` for a request that is not observed */
function observe(observer: CallObserver, { matched, request, upload, sendsBytes }: RouteCall) {
  const { name: route, responseBytes, stream } = matched.match.value;
  const { method, held } = request;
  const isJson = !sendsBytes && (responseBytes ?? stream) === null && upload === null;
  return isJson && held !== undefined ? observer.observe({ route, method, held }) : null;
}
