import { cleanDetail } from '../../lib/failure-detail.js';
import { createMask } from '../../provider/mask-failure.js';
import type { OpenStream } from '../../provider/open-streams.js';
import { JSON_TYPE, Reply } from '../reply.js';
import { createWebSocketReply } from '../websocket/websocket-reply.js';
import {
  type ByteResponse,
  listEnvelopeHeaders,
  listOtherHeaders,
  recordPieces,
  recordStream,
} from './byte-response.js';
import { createEventReply, createToError } from './event-reply.js';
import { createEnvelope, type ForwardedResponse, splitEnvelope } from './forwarded-response.js';
import type { RouteCall } from './route-call.js';
import { JsonStream } from './streamed-json.js';
import { endBodyWithRight } from './watch-right.js';

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
    source.toError = createToError(call);
    endBodyWithRight(call, source);
    const isRaw = matched.module.descriptor.responses.mode === 'raw';
    const envelope = isRaw ? null : splitEnvelope(matched.target, matched.match);
    const stream = new JsonStream(source, envelope);
    const wholeBody = { pieces: [], contentType: contentType ?? JSON_TYPE, contentLength: null };
    const body = { ...wholeBody, status, stream, headers: [] };
    return Reply.forwarded(authorization, { ...body, ...exposed, ...shared });
  }
  if (response.mode === 'raw') {
    const { omitted } = response.raw;
    const mask = createMask(matched.module.secrets, request);
    facts.failure_detail = omitted === undefined ? null : cleanDetail(mask(omitted));
    return Reply.forwarded(authorization, { ...response.raw, ...response.exposed, ...shared });
  }
  const pieces = createEnvelope(matched.target, matched.match, response.data);
  if (response.exposed === null) return Reply.ok(authorization, pieces);
  const envelope = { status: 200, pieces, contentType: JSON_TYPE };
  return Reply.forwarded(authorization, { ...envelope, ...response.exposed, ...shared });
}

function namesOf(headers: readonly string[]): string[] {
  return headers.filter((_, index) => index % 2 === 0);
}

/** The failure of a streamed body is known only after the head. */
function recordBytes({ stream, pieces }: ByteResponse, call: RouteCall): void {
  const { facts, matched } = call;
  const { digests } = matched.module.descriptor.records;
  if (stream === null) {
    recordPieces(pieces, facts, digests);
    return;
  }
  stream.toError = createToError(call);
  recordStream(stream, facts, digests);
  endBodyWithRight(call, stream);
}
