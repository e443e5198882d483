import type {
  Actor,
  HostApi,
  HostRequest,
  Progress,
  SurfaceCall,
} from '../../core/contract/index.js';
import type { ExactValue } from './exact-json.js';

/** Headers of the caller that are not forwarded: they belong to this protocol and to its bodies. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['accept', 'accept-encoding', 'authorization', 'connection', 'content-encoding'],
  ...['content-length', 'content-type', 'cookie', 'expect', 'host', 'keep-alive', 'last-event-id'],
  ...['idempotency-key', 'if-match', 'if-modified-since', 'if-none-match', 'if-range'],
  ...['if-unmodified-since', 'origin', 'range', 'referer', 'te', 'trailer', 'transfer-encoding'],
  ...['upgrade', 'x-correlation-id', 'x-request-id'],
]);
const OWN_PREFIX = /^(?:mcp-|proxy-|sec-|access-control-)/;

/** A message of a client, with its context. */
export interface Exchange {
  readonly actor: Actor;
  readonly call: SurfaceCall;
  /** The headers for calls of modules. */
  readonly headers: Readonly<Record<string, string>>;
  /** The module of `/mcp/{module}`; `null` for all. */
  readonly module: string | null;
  readonly message: ExactValue;
  /** Receives the reports of a call; absent if the client does not ask for them. */
  readonly onProgress?: (progress: Progress) => void;
  /** Whether the revision has structured content, the schemas of it, and links to resources. */
  readonly isStructured: boolean;
}

/** The headers of a client that modules may receive, by their descriptors. */
export function listForwardable(headers: Headers): Record<string, string> {
  const entries = [...headers].filter(([name]) => !OWN_HEADERS.has(name) && !OWN_PREFIX.test(name));
  return Object.fromEntries(entries);
}

export function requestHost(
  host: Pick<HostApi, 'request'>,
  { actor, call, headers, onProgress }: Exchange,
  request: Pick<HostRequest, 'method' | 'target' | 'body' | 'headers' | 'operation'>,
): Promise<Response> {
  const { requestId, correlationId, signal } = call;
  const ids = { 'x-request-id': requestId, 'x-correlation-id': correlationId };
  return host.request(actor, {
    ...request,
    headers: { ...headers, ...request.headers, ...ids },
    signal,
    call,
    onProgress,
  });
}
