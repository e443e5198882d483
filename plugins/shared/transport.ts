/**
 * What adapters share that connect to a provider: `modgate/transport`. The words of a config and
 * what they do are those of kind `http`: endpoints by URL and by DNS, trust, credentials, balancing.
 */
export { connectHttp, type HttpClient } from '../http/connect-http.js';
export { RestartBackoff, steadyBackoffMs } from './backoff.js';
export type { RunningCommand } from './child.js';
export {
  type CommandConfig,
  commandMembers,
  listHostUses,
  prepareCommand,
} from './command.js';
export { withDeadline } from './deadline.js';
export {
  createAbortFailure,
  createInvalidRequest,
  createStarting,
  createTransportFailure,
  createUnknownEndpoint,
} from './failures.js';
export { Gate, START_WAIT_MS } from './gate.js';
export { integerBetween } from './integer-between.js';
export { findMoreThanRoutes, findProtocolHeaders, findRawMode } from './module-problems.js';
export { waitForRetry } from './reconnect.js';
export { createRouteHeaders, STATUS_HEADER, UNSAFE_VALUE } from './route-message.js';
export { forEachInSlices } from './slices.js';
export { streamOf } from './stream-of.js';
export { defineTransport } from './transport/define-transport.js';
export { createAddressFinder, type FindAddresses } from './transport/names/find-addresses.js';
export type {
  CallLimits,
  CallTarget,
  EndpointRequest,
  SendRequest,
} from './transport/send-request.js';
export { createTlsOptions } from './transport/tls-options.js';
export type * from './transport/transport.js';
export type * from './transport/transport-config.js';
