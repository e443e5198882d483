import type { Mount } from '../../descriptor/sections/mount.js';
import { isPlainEnvelope } from '../../descriptor/sections/responses.js';
import type { RouteMatch } from '../../lib/routing/route-table.js';
import type { LiveModule, LiveRoute } from '../../modules/live-module.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import type { ParseResponse } from '../../provider/provider-call.js';
import { type CallerRequest, calledBase, type ModuleTarget } from '../request.js';
import type { ForwardedWebSocket } from '../websocket/websocket-call.js';
import { createByteReader, type ForwardedBytes } from './byte-response.js';
import { type CalledAddress, findCalledAddress } from './called-address.js';
import { createEitherReader } from './either-response.js';
import { enforceOutput } from './enforce-schemas.js';
import { createExposeHeaders, type ExposedHeaders, type ExposeHeaders } from './exposed-headers.js';
import { readResponseData } from './provider-response.js';
import { type RawResponse, readRawResponse } from './raw-response.js';
import { passRedirect } from './rewrite-references.js';
import type { MatchedRoute } from './route-call.js';
import { createStreamReader, type ForwardedEvents } from './stream-response.js';
import { createJsonReader, type StreamedJson } from './streamed-json.js';

/** A response of the provider for callers. */
export type ForwardedResponse =
  | {
      readonly mode: 'envelope';
      /** JSON. */
      readonly data: readonly Uint8Array[];
      /** `null` if the descriptor exposes none. */
      readonly exposed: ExposedHeaders | null;
    }
  | { readonly mode: 'raw'; readonly raw: RawResponse; readonly exposed: ExposedHeaders }
  | ForwardedBytes
  | ForwardedEvents
  | StreamedJson
  | ForwardedWebSocket;

type ReadResponse = ParseResponse<ForwardedResponse>;
type ReadUnchecked = (...args: Parameters<ReadResponse>) => ForwardedResponse;

/** The reader that the routes of a module share. */
interface ModuleReader {
  readonly read: ReadUnchecked;
  /** `null` if the descriptor exposes no headers. */
  readonly expose: ExposeHeaders | null;
}

/** Created once for each base of a call: a module is immutable, except for its endpoints. */
const readers = new WeakMap<LiveModule, Map<Mount | null, ModuleReader>>();

/**
 * Creates a reader of responses for the callers of a route.
 * @param credentialHeaders the request headers for credentials; lower-case names
 * @param matched the matched route, with the base below which references lead to the module
 */
export function createResponseReader(
  matched: MatchedRoute,
  credentialHeaders: readonly string[],
  request: Pick<
    CallerRequest,
    'actor' | 'client' | 'method' | 'headers' | 'signal' | 'facts' | 'isHttp10' | 'mask'
  >,
): ReadResponse {
  const { module, match, target } = matched;
  const { schemas, responseBytes, stream } = match.value;
  const called = module.descriptor.forward_client ? findCalledAddress(request, target) : null;
  const { read, expose } = findReader(module, credentialHeaders, target, called);
  if (responseBytes?.besideJson === false) return createByteReader(matched, request, read, expose);
  const isEnveloped = module.descriptor.responses.mode === 'envelope';
  const readChecked: ReadResponse = (outcome, source, operation) => {
    const response = read(outcome, source, operation);
    const checked = schemas?.output && enforceOutput(schemas, outcome, isEnveloped, request);
    return checked ? checked.then(() => response) : response;
  };
  if (stream !== null) return createStreamReader(matched, request, readChecked, expose);
  const holdBytes = holdBytesOf(matched, request);
  const ofHeld = schemas?.output ? readChecked : read;
  const readJson = holdBytes === null ? ofHeld : createJsonReader(matched, read, expose);
  if (!mayBeBytes(matched, request)) return readJson;
  return createEitherReader(matched, request, { readJson, holdBytes, expose });
}

/** Whether the response may be bytes: beside JSON, never for a client of HTTP/1.0. */
export function mayBeBytes(
  { match: { value } }: Pick<MatchedRoute, 'match'>,
  { isHttp10 }: Pick<CallerRequest, 'isHttp10'>,
): boolean {
  const { responseBytes } = value;
  return responseBytes !== null && !(responseBytes.besideJson && isHttp10);
}

/**
 * The number of bytes that are buffered before a JSON response is streamed; `null` to buffer all. A
 * client of HTTP/1.0 cannot detect a truncated body, and a schema needs the complete body.
 */
export function holdBytesOf(
  { module, match }: MatchedRoute,
  { isHttp10 }: Pick<CallerRequest, 'isHttp10'>,
): number | null {
  const { hold_bytes, response_bytes } = module.descriptor.limits;
  if (hold_bytes >= response_bytes) return null;
  const { responseBytes, stream, schemas } = match.value;
  if (responseBytes?.besideJson === false || stream !== null || schemas?.output) return null;
  return module.client.streams && !isHttp10 ? hold_bytes : null;
}

function findReader(
  module: LiveModule,
  credentialHeaders: readonly string[],
  target: ModuleTarget,
  called: CalledAddress | null,
): ModuleReader {
  if (isPlainEnvelope(module.descriptor.responses)) return PLAIN;
  // The address differs between calls.
  if (called !== null) {
    return createModuleReader(module, credentialHeaders, calledBase(target), called);
  }
  const byMount = readers.get(module) ?? new Map<Mount | null, ModuleReader>();
  readers.set(module, byMount);
  const existing = byMount.get(target.mount);
  if (existing !== undefined) return existing;
  const reader = createModuleReader(module, credentialHeaders, calledBase(target), null);
  byMount.set(target.mount, reader);
  return reader;
}

/** @param prefix the prefix of references */
function createModuleReader(
  { descriptor: { responses }, client }: LiveModule,
  credentialHeaders: readonly string[],
  prefix: string,
  called: CalledAddress | null,
): ModuleReader {
  const origins = responses.origins.map((origin) => ({ origin, path: '' }));
  const references = {
    // Endpoints may join and leave while the module is live.
    get bases() {
      return origins.length === 0 ? client.bases : [...client.bases, ...origins];
    },
    prefix,
    called,
  };
  const expose = createExposeHeaders({ responses, references, credentialHeaders });
  if (responses.mode === 'raw') {
    const read: ReadUnchecked = (outcome, { base }, operation) => {
      const route = operation.kind === 'http_route' ? operation : null;
      const target = route?.target ?? '/';
      const context = { ...references, base };
      const redirect = passRedirect(outcome, responses.redirects, context, target);
      const exposed = expose(outcome, base);
      if (redirect === null) {
        return { mode: 'raw', raw: readRawResponse(outcome, route?.method === 'HEAD'), exposed };
      }
      const raw = { status: outcome.status, pieces: [], contentType: null };
      return { mode: 'raw', raw, exposed: withLocation(exposed, redirect.location) };
    };
    return { read, expose };
  }
  const read: ReadUnchecked = (outcome, { base }) => {
    const data = readResponseData(outcome);
    return { mode: 'envelope', data, exposed: expose(outcome, base) };
  };
  return { read, expose };
}

/** Adds `location`, exposed or not, because a redirect is useless without it. */
function withLocation(exposed: ExposedHeaders, location: string | null): ExposedHeaders {
  if (location === null) return exposed;
  const headers: string[] = ['location', location];
  for (let index = 0; index < exposed.headers.length; index += 2) {
    const [name = '', value = ''] = exposed.headers.slice(index, index + 2);
    if (name !== 'location') headers.push(name, value);
  }
  return { ...exposed, headers };
}

function readPlain(outcome: CheckedOutcome): ForwardedResponse {
  return { mode: 'envelope', data: readResponseData(outcome), exposed: null };
}

const PLAIN: ModuleReader = { read: readPlain, expose: null };

const END = Buffer.from('}');

/**
 * Creates the body of a forwarded response in pieces. The value of its last field, `data`, is the
 * provider's unchanged bytes, so that numbers and escapes stay the same.
 */
export function createEnvelope(
  target: Pick<ModuleTarget, 'providerPath'>,
  match: RouteMatch<LiveRoute>,
  data: readonly Uint8Array[],
): readonly Uint8Array[] {
  const { opening, closing } = splitEnvelope(target, match);
  return [opening, ...data, closing];
}

/** The parts before and after `data`. */
export function splitEnvelope(
  target: Pick<ModuleTarget, 'providerPath'>,
  match: RouteMatch<LiveRoute>,
): { readonly opening: Uint8Array; readonly closing: Uint8Array } {
  return { opening: Buffer.from(`${writeHead(target, match)},"data":`), closing: END };
}

/** The envelope without `data`, as JSON. */
export function createOpening(
  target: Pick<ModuleTarget, 'providerPath'>,
  match: RouteMatch<LiveRoute>,
): string {
  return `${writeHead(target, match)}}`;
}

function writeHead(
  { providerPath }: Pick<ModuleTarget, 'providerPath'>,
  { value: { envelopeHead }, params }: RouteMatch<LiveRoute>,
): string {
  const called = `"provider_path":${JSON.stringify(providerPath)},"path_params":${JSON.stringify(params)}`;
  return `${envelopeHead},${called}`;
}
