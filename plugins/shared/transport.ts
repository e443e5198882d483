/**
 * What adapters share that connect to a provider: `modgate/transport`. The words of a config and
 * what they do are those of kind `http`: endpoints by URL and by DNS, trust, credentials, balancing.
 */
export { connectHttp, type HttpClient } from '../http/connect-http.js';
export { RestartBackoff, steadyBackoffMs } from './backoff.js';
export { withDeadline } from './deadline.js';
export {
  createAbortFailure,
  createInvalidRequest,
  createStarting,
  createTransportFailure,
} from './failures.js';
export { Gate, START_WAIT_MS } from './gate.js';
export { integerBetween } from './integer-between.js';
export { waitForRetry } from './reconnect.js';
export { createRouteHeaders, STATUS_HEADER } from './route-message.js';
export { defineTransport } from './transport/define-transport.js';
export type {
  CallLimits,
  CallTarget,
  EndpointRequest,
  SendRequest,
} from './transport/send-request.js';
export { createTlsOptions } from './transport/tls-options.js';
export type * from './transport/transport.js';
export type * from './transport/transport-config.js';
