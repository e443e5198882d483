import { ProviderFailure } from '../../contract/index.js';
import type { OpenStream } from '../../provider/open-streams.js';
import { admitStream } from './event-reply.js';
import { createFailureError } from './provider-error.js';
import { describeRoute, type MatchedRoute, type RouteCall } from './route-call.js';

/**
 * Checks the adapter again, because it may have changed after the manifest was stored. @throws
 * HostError 502.
 */
export function assertSupportedRoute(matched: MatchedRoute): void {
  const { module, match } = matched;
  const { bodyBytes, responseBytes, stream, isWebSocket } = match.value;
  const { streams, upgrades } = module.client;
  const isStreamed = (bodyBytes ?? responseBytes ?? stream) !== null;
  if ((streams || !isStreamed) && (upgrades || !isWebSocket)) return;
  const feature = isWebSocket ? 'open WebSockets' : 'stream';
  const failure = new ProviderFailure('refused', `the adapter does not ${feature}`);
  throw createFailureError(failure, describeRoute(matched), module.descriptor.owner);
}

/**
 * Returns `null` without a stream, and in raw mode, in which the response decides whether it is a
 * stream of events.
 * @throws HostError 429, 502.
 */
export function admit(call: RouteCall): OpenStream | null {
  const { module, match } = call.matched;
  const { stream, isWebSocket } = match.value;
  if (isWebSocket) return admitStream(call, 'websocket');
  const isRaw = module.descriptor.responses.mode === 'raw';
  return stream === null || isRaw ? null : admitStream(call, stream.form);
}
