import { randomBytes } from 'node:crypto';
import { HostError } from '../../errors.js';
import { HANDSHAKE_VERSION } from '../../lib/websocket/handshake.js';
import type { CallerRequest } from '../request.js';
import type { Handshake } from './handshake.js';

const KEY_BYTES = 16;

/** The handshake of the host with a provider. */
export interface WebSocketCall {
  readonly handshake: Handshake;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * @throws HostError 426 for a request that is not a handshake, 400 for an invalid list of
 * subprotocols.
 */
export function assertHandshake({
  handshake,
  headers,
}: Pick<CallerRequest, 'handshake' | 'headers'>): void {
  if (handshake === null) {
    const isDropped =
      headers.get('sec-websocket-key') !== undefined && headers.get('upgrade') === undefined;
    throw new HostError('upgrade_required', 'the route is a WebSocket', {
      errors: [{ field: 'upgrade', reason: 'expected the handshake of a WebSocket' }],
      nextActions: [
        isDropped
          ? 'let the proxy in front of the host pass upgrade and connection: only sec-websocket-key has arrived'
          : 'open it with a WebSocket client',
      ],
      headers: {
        upgrade: 'websocket',
        connection: 'upgrade, close',
        'sec-websocket-version': HANDSHAKE_VERSION,
      },
    });
  }
  if (handshake.problem !== null) throw handshake.problem;
}

/**
 * The provider receives a key of the host: with that of the caller, it could respond for the host.
 * @param hopByHop the headers that belong to the caller's connection
 */
export function createWebSocketCall(
  handshake: Handshake,
  hopByHop: ReadonlySet<string>,
): WebSocketCall {
  const key = randomBytes(KEY_BYTES).toString('base64');
  const protocols = handshake.protocols.join(', ');
  const offers = {
    'sec-websocket-protocol': protocols === '' ? undefined : protocols,
    'sec-websocket-extensions': handshake.extensions,
  };
  const headers: Record<string, string> = {
    'sec-websocket-version': HANDSHAKE_VERSION,
    'sec-websocket-key': key,
  };
  for (const [name, value] of Object.entries(offers)) {
    if (value !== undefined && !hopByHop.has(name)) headers[name] = value;
  }
  return { handshake, key, headers };
}
