import { hash } from 'node:crypto';
import { ProviderFailure } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import { namesListedType, namesMediaType } from '../../lib/media-type.js';
import { andThen } from '../../lib/promises.js';
import type { ByteRules } from '../../manifest/byte-rules.js';
import type { LiveRoute } from '../../modules/live-module.js';
import type { RouteSchemas } from '../../modules/route-schemas.js';
import type { OpenStream } from '../../provider/open-streams.js';
import type { Upload } from '../../provider/provider-call.js';
import { createUnapprovedReply, UnapprovedCall } from '../approvals/unapproved-call.js';
import type { ExplainedRouteCall } from '../explain/explained-request.js';
import { fail, pass, unknown } from '../explain/step-report.js';
import { JSON_TYPE } from '../reply.js';
import type { CallerRequest } from '../request.js';
import type { ReportedStep, RouteStep } from '../step.js';
import { assertHandshake } from '../websocket/websocket-call.js';
import {
  announcesBody,
  assertSignedBody,
  checkByteType,
  findByteRules,
  isBodyIgnored,
  isStreamedJson,
  readCheckedBody,
} from './body-policy.js';
import { fillCache } from './cached-call.js';
import { callProvider } from './call-provider.js';
import { enforceInput } from './enforce-schemas.js';
import { readHopByHopNames } from './headers-to-provider.js';
import { translateOverload } from './overload.js';
import { createFailureError } from './provider-error.js';
import { admitStream } from './responses/events.js';
import { findForm } from './responses/find-form.js';
import { describeRoute, type MatchedRoute, type RouteCall } from './route-call.js';
import { createRouteRequest } from './route-request.js';
import { endUploadWithRight } from './watch-right.js';

const BAD_GATEWAY = 502;

/** Only a call can decide these steps. */
export type CallStep = RouteStep<RouteCall, ExplainedRouteCall>;

/**
 * Rejects streams for clients of HTTP/1.0, which cannot detect a truncated body, and WebSockets
 * without a handshake.
 */
export const protocolStep: CallStep = {
  name: 'protocol',
  appliesTo: ({ isPlain }) => !isPlain,
  run({ matched, request }) {
    const { isWebSocket } = matched.match.value;
    if (isWebSocket) assertHandshake(request);
    if (!request.isHttp10 || !isStreamWanted(matched.match.value, request)) return;
    throw new HostError('upgrade_required', 'the route streams its response', {
      errors: [{ field: 'version', reason: 'expected HTTP/1.1' }],
      nextActions: [
        'send the request with HTTP/1.1',
        'let the proxy in front of the host speak HTTP/1.1: nginx needs proxy_http_version 1.1',
      ],
      headers: { upgrade: 'HTTP/1.1', connection: 'upgrade, close' },
    });
  },
  explain({ route }) {
    if (route?.value.isWebSocket !== true) return undefined;
    return unknown('the route is a WebSocket: a request without its handshake is 426');
  },
};

function isStreamWanted(
  { responseBytes, stream }: LiveRoute,
  { headers }: Pick<CallerRequest, 'headers'>,
): boolean {
  const accept = headers.get('accept');
  if (stream?.isOptional) {
    return namesMediaType(accept, stream.mediaType) && !namesMediaType(accept, JSON_TYPE);
  }
  if (responseBytes?.besideJson !== true) return (responseBytes ?? stream) !== null;
  return namesListedType(accept, responseBytes.types ?? []);
}

/** A malformed `connection` header is 400. */
export const connectionStep: ReportedStep<
  { readonly request: CallerRequest; hopByHop: ReadonlySet<string> },
  unknown
> = {
  name: 'parser',
  run(call) {
    call.hopByHop = readHopByHopNames(call.request);
  },
};

const IDEMPOTENCY_KEY = 'idempotency-key';
const VISIBLE_TEXT = /^[!-~]{1,255}$/;

/**
 * Repeated headers are joined with a space. A header that `connection` names does not reach the
 * provider.
 */
export const idempotencyKeyStep: CallStep = {
  name: IDEMPOTENCY_KEY,
  appliesTo: ({ requiresKey }) => requiresKey,
  run({ request, hopByHop }) {
    const key = request.headers.get(IDEMPOTENCY_KEY);
    if (key !== undefined && VISIBLE_TEXT.test(key) && !hopByHop.has(IDEMPOTENCY_KEY)) return;
    const reason =
      key === undefined ? 'missing' : 'expected one line of 1 to 255 visible characters';
    throw new HostError('validation_failed', 'the route requires an idempotency-key', {
      errors: [{ field: IDEMPOTENCY_KEY, reason }],
      nextActions: ['send an idempotency-key, a new one for each call that is not a repetition'],
    });
  },
  explain: () => unknown('the route requires an idempotency-key; a call without one is 400'),
};

export const bodyStep: CallStep = {
  name: 'body',
  run(call) {
    const { matched, request, facts } = call;
    if (!isBodyIgnored(request.method, matched.match.value)) return readBody(call);
    if (announcesBody(request.headers)) facts.request_body = 'ignored';
    return checkContent(call);
  },
  explain({ request, route }) {
    const { bodyBytes } = route?.value ?? {};
    if (route && isBodyIgnored(request.method, route.value)) {
      return pass('a body is ignored, and recorded as request_body: ignored');
    }
    if (!bodyBytes) return unknown('checked when it arrives; an invalid body is 400');
    const { types, maxBytes, besideJson } = bodyBytes;
    const listed = types?.join(', ') ?? 'any media type';
    const checked = besideJson ? 'JSON is checked when it arrives; ' : '';
    return unknown(`${checked}streamed: ${listed}, at most ${maxBytes} bytes; another body is 400`);
  },
};

/** Returns a promise only for a body that has not arrived, or whose checks take time. */
function readBody(call: RouteCall): void | Promise<void> {
  let receiving: void | Promise<void>;
  try {
    receiving = receiveBody(call);
  } catch (error) {
    throw describeOverload(error, call);
  }
  if (receiving === undefined) return checkReceived(call);
  return receiving.then(
    () => checkReceived(call),
    (error: unknown) => {
      throw describeOverload(error, call);
    },
  );
}

function describeOverload(error: unknown, { matched }: RouteCall): unknown {
  return translateOverload(error, describeRoute(matched), matched.module.descriptor.owner);
}

function receiveBody(call: RouteCall): void | Promise<void> {
  const { matched, request } = call;
  const { descriptor } = matched.module;
  const { limits } = descriptor;
  const bytes = findByteRules(matched.match.value, request.headers);
  call.sendsBytes = bytes !== null;
  if (bytes === null) {
    const isStreamed = !call.holdsBody && isStreamedJson(matched);
    const body = readCheckedBody(matched.match.value, request, limits, isStreamed);
    return andThen(body, (checked) => setJsonBody(call, checked));
  }
  return andThen(checkByteType(request, bytes), (type) => {
    if (type === 'listed') return receiveBytes(call, bytes);
  });
}

function receiveBytes(call: RouteCall, { maxBytes }: ByteRules): void | Promise<void> {
  const { matched, request } = call;
  const { descriptor } = matched.module;
  if (!call.holdsBody) {
    call.upload = request.openUpload(maxBytes, descriptor);
    return;
  }
  const body = request.readBody(Math.min(descriptor.limits.request_bytes, maxBytes));
  return andThen(body, (read) => setByteBody(call, read));
}

function setJsonBody(call: RouteCall, body: Buffer | Upload | null): void {
  if (body === null || Buffer.isBuffer(body)) call.body = body;
  else call.upload = body;
}

function setByteBody(call: RouteCall, body: Buffer): void {
  const { matched, request, facts } = call;
  call.body = body.length === 0 ? null : body;
  facts.bytes_in = body.length;
  if (matched.module.descriptor.records.digests) {
    facts.request_sha256 = request.bodySha256 ?? hash('sha256', body);
  }
}

function checkReceived(call: RouteCall): void | Promise<void> {
  if (call.upload === null) call.facts.bytesIn = call.body?.length ?? 0;
  return checkContent(call);
}

/**
 * Checks the body against the credentials, which may cover it (step actor), and the schemas of the
 * route.
 */
function checkContent(call: RouteCall): void | Promise<void> {
  const compared = assertSignedBody(call.request, call.body);
  return compared === undefined ? checkSchemas(call) : compared.then(() => checkSchemas(call));
}

/** Bytes are covered by no schema. */
function checkSchemas({ matched, request, body, sendsBytes }: RouteCall): void | Promise<void> {
  const { schemas } = matched.match.value;
  if (schemas !== null) return checkInput(schemas, matched, request, sendsBytes ? null : body);
}

async function checkInput(
  schemas: RouteSchemas,
  matched: MatchedRoute,
  request: CallerRequest,
  body: Buffer | null,
): Promise<void> {
  try {
    const { match, target } = matched;
    const parts = { target: target.forwardTarget, params: match.params };
    await enforceInput(schemas, parts, body, request);
  } catch (error) {
    throw translateOverload(error, describeRoute(matched), matched.module.descriptor.owner);
  }
}

export const providerStep: CallStep = {
  name: 'provider',
  async run(call) {
    // The cache has served the request.
    if (call.reply !== null) return;
    const { matched } = call;
    if (!matched.match.value.isPlain) assertSupportedRoute(matched);
    const admitted = matched.match.value.isPlain ? null : admit(call);
    const stopWatching = endUploadWithRight(call);
    try {
      const providerRequest = createRouteRequest(call);
      const response =
        call.cacheEntry === null
          ? await callProvider(providerRequest)
          : await fillCache(call, call.cacheEntry, providerRequest);
      // A response to a handshake without a WebSocket.
      if (admitted !== null && response.form !== findForm(call)) admitted.close();
      call.reply = response.form.reply(call, response, admitted);
    } catch (error) {
      admitted?.close();
      if (!(error instanceof UnapprovedCall)) throw error;
      call.reply = createUnapprovedReply(call.authorization, error);
    } finally {
      stopWatching();
    }
  },
  explain({ endpoints, credentials }) {
    if (endpoints.length === 0 || endpoints.some(({ state }) => state !== 'open')) {
      const called = 'called for each request; without a valid response it is 502';
      return unknown(credentials === null ? called : `${called}; ${credentials}`);
    }
    return fail(BAD_GATEWAY, {
      detail: 'the circuit breaker of every endpoint is open',
      next_actions: ['try again later'],
    });
  },
};

/**
 * Checks the adapter again, because it may have changed after the manifest was stored. @throws
 * HostError 502.
 */
function assertSupportedRoute(matched: MatchedRoute): void {
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
 * Returns `null` without a stream, and where the response decides whether it is a stream of events:
 * in raw mode, and for an optional stream.
 * @throws HostError 429, 502.
 */
function admit(call: RouteCall): OpenStream | null {
  const { module, match } = call.matched;
  const { stream, isWebSocket } = match.value;
  if (isWebSocket) return admitStream(call, 'websocket');
  const isRaw = module.descriptor.responses.mode === 'raw';
  return stream === null || isRaw || stream.isOptional ? null : admitStream(call, stream.form);
}
