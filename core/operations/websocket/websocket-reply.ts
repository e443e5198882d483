import type { Duplex } from 'node:stream';
import { CLOSE_CODES } from '../../lib/websocket/frame-scanner.js';
import { acceptKey } from '../../lib/websocket/handshake.js';
import type { HostEndReason, OpenStream } from '../../provider/open-streams.js';
import type { RouteCall } from '../forward/route-call.js';
import { watchRight } from '../forward/watch-right.js';
import type { ReplyUpgrade } from '../reply.js';
import { type Handshake, OWN_PROTOCOL } from './handshake.js';
import { Tunnel, type TunnelEnd } from './tunnel.js';
import type { ForwardedWebSocket } from './websocket-call.js';

/** The default maximum of a frame; frames are not buffered. Bytes. */
const DEFAULT_FRAME_BYTES = 16_777_216;

const CODES: Readonly<Record<HostEndReason, number>> = {
  max_ms: CLOSE_CODES.goingAway,
  unauthorized: CLOSE_CODES.policyViolation,
  reload: CLOSE_CODES.serviceRestart,
  shutdown: CLOSE_CODES.serviceRestart,
};

/** What a provider did that broke off a WebSocket, by who closed it. */
const BROKEN: Readonly<Record<TunnelEnd['closedBy'], string | null>> = {
  provider: 'closed without a close frame',
  host: 'invalid frame',
  caller: null,
};

/** @param open counts the WebSocket until it has ended */
export function createWebSocketReply(
  call: RouteCall,
  handshake: Handshake,
  opened: ForwardedWebSocket,
  open: OpenStream,
): { readonly headers: readonly string[]; readonly upgrade: ReplyUpgrade } {
  const { facts, matched, request } = call;
  const { stream: limits, body_idle_ms: stallMs } = matched.module.descriptor.limits;
  const { connection } = opened;
  // The host may end it before the caller is connected.
  open.end = () => connection.destroy();
  const connect = (caller: Duplex) =>
    new Promise<number>((resolve) => {
      // The memory of the request ends with its response, the 101.
      const held = request.held?.fork() ?? null;
      let stopWatching = () => {};
      const onEnd = (end: TunnelEnd) => {
        stopWatching();
        held?.close();
        open.close();
        Object.assign(facts, describeEnd(end));
        if (end.isBroken) {
          open.fail();
          facts.failure = 'protocol';
          facts.failure_detail = BROKEN[end.closedBy];
        }
        resolve(end.sent.bytes);
      };
      const tunnel = new Tunnel({
        caller,
        provider: connection,
        maxFrameBytes: limits.event_bytes ?? DEFAULT_FRAME_BYTES,
        reservedBits: opened.reservedBits,
        unitsPerSecond: limits.units_s,
        idleMs: limits.idle_ms,
        maxMs: limits.max_ms,
        stallMs,
        held,
        onEnd,
      });
      open.end = (reason) => tunnel.close(CODES[reason]);
      stopWatching = watchRight(call, {
        endsWithCredential: true,
        onLost: () => {
          facts.stream_end = 'unauthorized';
          tunnel.close(CLOSE_CODES.policyViolation);
        },
      });
    });
  const abandon = () => {
    connection.destroy();
    open.close();
  };
  return { headers: listHeaders(handshake, opened), upgrade: { connect, abandon } };
}

/** Names and values in turn. */
function listHeaders(
  { key, takesOwn }: Handshake,
  { protocol, extensions }: ForwardedWebSocket,
): string[] {
  const chosen = protocol ?? (takesOwn ? OWN_PROTOCOL : null);
  return [
    ...['upgrade', 'websocket', 'connection', 'Upgrade'],
    ...['sec-websocket-accept', acceptKey(key)],
    ...(chosen === null ? [] : ['sec-websocket-protocol', chosen]),
    ...(extensions === null ? [] : ['sec-websocket-extensions', extensions]),
  ];
}

function describeEnd({ closedBy, code, received, sent }: TunnelEnd) {
  return {
    bytes_in: received.bytes,
    bytes_out: sent.bytes,
    frames_in: received.frames,
    frames_out: sent.frames,
    closed_by: closedBy,
    close_code: code,
  };
}
