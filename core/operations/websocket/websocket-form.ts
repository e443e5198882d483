import type { Duplex } from 'node:stream';
import { CLOSE_CODES, type ReservedBits } from '../../lib/websocket/frame-scanner.js';
import { acceptKey, parseExtensions, parseSubprotocols } from '../../lib/websocket/handshake.js';
import type { HostEndReason, OpenStream } from '../../provider/open-streams.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import { createProtocolFailure } from '../forward/provider-response.js';
import type { ForwardedResponse, ResponseForm } from '../forward/responses/response-form.js';
import { jsonForm } from '../forward/responses/streamed-json.js';
import type { RouteCall } from '../forward/route-call.js';
import { watchRight } from '../forward/watch-right.js';
import { Reply, type ReplyUpgrade } from '../reply.js';
import { type Handshake, OWN_PROTOCOL } from './handshake.js';
import { Tunnel, type TunnelEnd } from './tunnel.js';
import type { WebSocketCall } from './websocket-call.js';

const DEFLATE = 'permessage-deflate';
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

interface OpenedWebSocket extends ForwardedResponse {
  readonly connection: Duplex;
  /** The subprotocol of the provider; `null` for none. */
  readonly protocol: string | null;
  /** The header of the provider; `null` for none. */
  readonly extensions: string | null;
  readonly reservedBits: ReservedBits;
}

/** An opened WebSocket; any other answer to a handshake is JSON. */
export const webSocketForm: ResponseForm<OpenedWebSocket> = {
  fits: ({ isWebSocket }) => isWebSocket,
  stream: () => null,

  read(call, outcome, endpoint, operation) {
    const { connection } = outcome;
    const { webSocketCall } = call;
    if (connection === null || webSocketCall === null) {
      return jsonForm.read(call, outcome, endpoint, operation);
    }
    return { form: webSocketForm, connection, ...readAnswer(outcome, webSocketCall) };
  },

  reply(call, opened, open) {
    const { authorization, webSocketCall } = call;
    if (open === null || webSocketCall === null) throw new Error('a WebSocket has a handshake');
    const headers = listHeaders(webSocketCall.handshake, opened);
    return Reply.upgraded(authorization, { headers, upgrade: createUpgrade(call, opened, open) });
  },
};

/** @param open counts the WebSocket until it has ended */
function createUpgrade(call: RouteCall, opened: OpenedWebSocket, open: OpenStream): ReplyUpgrade {
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
  return { connect, abandon };
}

/** Names and values in turn. */
function listHeaders(
  { key, takesOwn }: Handshake,
  { protocol, extensions }: OpenedWebSocket,
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

/** @throws ProviderFailure `protocol` for an invalid response to this handshake (RFC 6455, 4.1). */
function readAnswer(outcome: CheckedOutcome, { key, headers: offered }: WebSocketCall) {
  const { headers } = outcome;
  const reject = (name: string) =>
    createProtocolFailure(outcome, 'no answer to the handshake', `${name} ${headers[name]}`);
  if (headers['upgrade']?.toLowerCase() !== 'websocket') throw reject('upgrade');
  if (headers['sec-websocket-accept'] !== acceptKey(key)) throw reject('sec-websocket-accept');
  const protocol = headers['sec-websocket-protocol'] ?? null;
  if (protocol !== null) {
    const offers = parseSubprotocols(offered['sec-websocket-protocol']) ?? [];
    if (!offers.includes(protocol)) throw reject('sec-websocket-protocol');
  }
  const extensions = headers['sec-websocket-extensions'] ?? null;
  const chosen = parseExtensions(extensions ?? undefined);
  const possible = parseExtensions(offered['sec-websocket-extensions']) ?? [];
  if (chosen === null || chosen.some((name) => !possible.includes(name))) {
    throw reject('sec-websocket-extensions');
  }
  return { protocol, extensions, reservedBits: bitsOf(chosen) };
}

/** An unknown extension may use any bits. */
function bitsOf(extensions: readonly string[]): ReservedBits {
  if (extensions.length === 0) return 'none';
  return extensions.every((name) => name === DEFLATE) ? 'deflate' : 'any';
}
