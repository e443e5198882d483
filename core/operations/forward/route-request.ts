import { isProviderFailure, type Method, ProviderFailure } from '../../contract/index.js';
import type { CallObserver } from '../../provider/call-observer.js';
import type { AttemptResult, ParseResponse, Upload } from '../../provider/provider-call.js';
import { describeRouteCall } from '../approvals/route-arguments.js';
import type { FoundOperation } from '../exposed/exposed-operations.js';
import { createWebSocketCall } from '../websocket/websocket-call.js';
import type { ProviderRequest } from './call-provider.js';
import { bytesForm } from './responses/bytes.js';
import { findForm } from './responses/find-form.js';
import type { ForwardedResponse, ResponseForm } from './responses/response-form.js';
import type { RouteCall } from './route-call.js';

const MIN_ERROR_STATUS = 400;

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
  const { declaredPath, timeoutMs, isRepeatable, isWebSocket, options } = match.value;
  const { handshake } = request;
  if (isWebSocket && handshake !== null) {
    call.webSocketCall = createWebSocketCall(handshake, hopByHop);
  }
  const { webSocketCall } = call;
  const form = findForm(call);
  return {
    authorization,
    module,
    matched,
    request,
    hopByHop,
    timeoutMs: Math.max(1, timeoutMs - call.waitedMs),
    isRepeatable: isRepeatable && (!call.sendsBytes || call.body === null),
    operation: {
      kind: 'http_route',
      method: request.method === 'HEAD' ? chooseHeadMethod(call, form) : match.value.method,
      declaredPath,
      target: target.forwardTarget,
      providerPath: target.providerPath,
      pathParams: match.params,
      ...(options !== undefined && { options }),
      body: call.body,
      ...(call.upload !== null && { bodyStream: call.upload }),
      ...(webSocketCall !== null && { upgrade: 'websocket' as const }),
    },
    ...(webSocketCall !== null && { headers: webSocketCall.headers }),
    upload: call.upload,
    sendsBytes: call.sendsBytes,
    response: form.stream(match.value, module),
    admit: call.exposed === null ? null : createAdmission(call, call.exposed),
    parseResponse: createParser(call, form),
    onAttemptEnd: match.value.clearsCache ? (result) => clearCache(call, result) : null,
    // A handshake is not observed: its answer is a connection.
    onAnswer:
      module.observer === null || webSocketCall !== null ? null : observe(module.observer, call),
  };
}

/** Admits the call of an agent, with the version that the request began with. */
function createAdmission(call: RouteCall, operation: FoundOperation): () => Promise<void> {
  const { approvals, matched, request } = call;
  const found = { module: matched.module, operation };
  return () => approvals.admit(found, () => describeRouteCall(call), request);
}

/**
 * A provider can respond before the last byte of a request: an error is forwarded at once, a success
 * only once the JSON body is valid.
 */
function createParser(call: RouteCall, form: ResponseForm): ParseResponse<ForwardedResponse> {
  return (outcome, endpoint, operation) => {
    const { upload, sendsBytes } = call;
    if (outcome.status < MIN_ERROR_STATUS && upload !== null && !sendsBytes) {
      return awaitUpload(upload).then(() => form.read(call, outcome, endpoint, operation));
    }
    return form.read(call, outcome, endpoint, operation);
  };
}

/**
 * Removes cached responses that a write may have changed, also if its response cannot be forwarded
 * or none arrived.
 */
function clearCache({ matched: { module, target }, responses }: RouteCall, result: AttemptResult) {
  if (responses === null || !mayHaveChanged(result)) return;
  responses.purge({ module: module.name, path: target.providerPath, isPrefix: false });
}

/** An error of the provider says that it changed nothing, and so does a request that was not sent. */
function mayHaveChanged({ outcome, error }: AttemptResult): boolean {
  const failure = isProviderFailure(error) ? error : null;
  const status = outcome?.status ?? failure?.status ?? null;
  if (status !== null) return status < MIN_ERROR_STATUS;
  return failure === null || (failure.phase !== 'preparing' && failure.phase !== 'connecting');
}

/** A provider that receives HEAD reports the length of its response. */
function chooseHeadMethod({ matched }: RouteCall, form: ResponseForm): Method | 'HEAD' {
  const { module, match } = matched;
  const passesHeads = form === bytesForm || module.descriptor.responses.mode === 'raw';
  return passesHeads && module.client.streams ? 'HEAD' : match.value.method;
}

/** @returns what gets the answered calls; `null` for a request that is not observed */
function observe(observer: CallObserver, { matched, request, upload, sendsBytes }: RouteCall) {
  const { name: route, responseBytes, stream } = matched.match.value;
  const { method, held } = request;
  const isJson = !sendsBytes && (responseBytes ?? stream) === null && upload === null;
  return isJson && held !== undefined ? observer.observe({ route, method, held }) : null;
}
