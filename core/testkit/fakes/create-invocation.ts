import type {
  AbortListener,
  Cancellation,
  HttpRouteOperation,
  Invocation,
  ProviderOperation,
} from '../../contract/index.js';

/** A call of a route. Every field has a default. */
export type RouteCall = Partial<Omit<HttpRouteOperation, 'kind'>>;

/** The default of `limits.response_bytes`: 4 MiB. */
const MAX_RESPONSE_BYTES = 4_194_304;

let invocations = 0;

/**
 * Creates an invocation like the host's, with a unique id. Default: `GET /` by a service without a
 * deadline. `providerPath` defaults to the decoded path of `target`; `pathParams` is not derived.
 */
export function createInvocation(
  operation: RouteCall | ProviderOperation = {},
  others: Partial<Omit<Invocation, 'operation'>> = {},
): Invocation {
  invocations += 1;
  const { signal = new AbortController().signal } = others;
  return {
    id: `call_${invocations}`,
    operation: 'kind' in operation ? operation : createRoute(operation),
    headers: { accept: 'application/json', 'accept-encoding': 'identity' },
    context: {
      module: 'reference',
      actor: { kind: 'service', id: 'testkit', scopes: new Set(['reference.use']) },
      requestId: `req_${invocations}`,
      correlationId: `corr_${invocations}`,
    },
    maxResponseBytes: MAX_RESPONSE_BYTES,
    signal,
    cancellation: toCancellation(signal),
    ...others,
  };
}

/** Rejects listener functions, like the host's own. */
function toCancellation(signal: AbortSignal): Cancellation {
  return {
    get aborted() {
      return signal.aborted;
    },
    get reason() {
      return signal.reason;
    },
    addEventListener: (type, listener) => signal.addEventListener(type, assertObject(listener)),
    removeEventListener: (type, listener) => signal.removeEventListener(type, listener),
  };
}

function assertObject(listener: AbortListener): AbortListener {
  if (typeof listener?.handleEvent === 'function') return listener;
  throw new TypeError('a cancellation requires an object with handleEvent');
}

export function createRoute(call: RouteCall): HttpRouteOperation {
  const { method = 'GET', target = '/', body = null } = call;
  const [path = '/'] = target.split('?');
  const providerPath = call.providerPath ?? decodeURIComponent(path);
  const { declaredPath = path, pathParams = {} } = call;
  const { upgrade, options, bodyStream } = call;
  const route = { method, declaredPath, target, providerPath, pathParams, body };
  return {
    kind: 'http_route',
    ...route,
    ...(upgrade !== undefined && { upgrade }),
    ...(options !== undefined && { options }),
    ...(bodyStream !== undefined && { bodyStream }),
  };
}
