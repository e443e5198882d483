import type { Actor, HostApi, SurfaceCall } from '../../../core/contract/index.js';
import { API } from '../paths.js';
import { setApiHeaders } from './json.js';

const REQUEST_HEADERS = [
  'accept',
  'accept-language',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'modgate-explain-as',
  'prefer',
] as const;

/** Headers of the connection or of the console, and one that would open a dialog of the browser. */
const DROPPED = [
  'content-length',
  'date',
  'www-authenticate',
  'x-correlation-id',
  'x-request-id',
] as const;

/** Forwards a request to the host, as the actor of the session. The target stays unchanged. */
export async function passOn(
  host: Pick<HostApi, 'request'>,
  actor: Actor,
  request: Request,
  call: SurfaceCall,
): Promise<Response> {
  const { target, signal, requestId, correlationId } = call;
  const headers: Record<string, string> = {
    'x-request-id': requestId,
    'x-correlation-id': correlationId,
  };
  for (const name of REQUEST_HEADERS) {
    const value = request.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  const body = request.body === null ? null : new Uint8Array(await request.arrayBuffer());
  const response = await host.request(actor, {
    method: request.method,
    target: target.slice(API.length),
    headers,
    body,
    signal,
    call,
  });
  const answer = new Headers(response.headers);
  for (const name of DROPPED) answer.delete(name);
  setApiHeaders(answer);
  if (response.status === 401) answer.set('www-authenticate', 'Session');
  return new Response(response.body, { status: response.status, headers: answer });
}
