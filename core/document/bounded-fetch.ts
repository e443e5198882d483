import type { RequestInit } from 'node-fetch';
import type { EnvHttpProxyAgent } from 'undici';
import { isLoopbackAddress } from '../lib/loopback.js';

interface BoundedRequest
  extends Pick<RequestInit, 'method' | 'body' | 'headers' | 'redirect' | 'agent'> {
  readonly maxBytes: number;
  /** The limit for the whole response. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** The head of a response. */
export interface FetchedHead {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
}

/** The response is missing, incomplete or exceeds the limits. */
export class FetchFailed extends Error {
  override readonly name = 'FetchFailed';
  readonly reason: 'timeout' | 'max-size' | 'failed';
  /** Whether a proxy may have carried the request. */
  readonly hasProxy: boolean;

  constructor(reason: FetchFailed['reason'], cause: unknown, hasProxy: boolean) {
    super(`fetch: ${reason}`, { cause });
    this.reason = reason;
    this.hasProxy = hasProxy;
  }
}

class BodyTooLong extends Error {
  readonly type = 'max-size';
}

const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

let proxies: EnvHttpProxyAgent | undefined;

/**
 * Sends requests of the control plane: without compression, and without following redirects.
 * @param check throws for a response whose body need not be read
 * @throws FetchFailed
 */
export async function fetchBounded(
  url: string,
  { maxBytes, timeoutMs, signal, headers, ...request }: BoundedRequest,
  check: (response: FetchedHead) => void = () => {},
): Promise<{ readonly response: FetchedHead; readonly body: Uint8Array }> {
  const hasProxy = request.agent === undefined && mayHaveProxy(url);
  const timeout = AbortSignal.timeout(timeoutMs);
  const end = new AbortController();
  const fail = (cause: unknown): never => {
    const reason = cause instanceof BodyTooLong ? 'max-size' : 'failed';
    throw new FetchFailed(timeout.aborted ? 'timeout' : reason, cause, hasProxy);
  };
  try {
    const response = await send(url, hasProxy, {
      redirect: 'manual',
      ...request,
      headers: { 'accept-encoding': 'identity', ...headers },
      compress: false,
      signal: AbortSignal.any([timeout, end.signal, ...(signal ? [signal] : [])]),
    }).catch(fail);
    check(response);
    return { response, body: await readBody(response, maxBytes).catch(fail) };
  } finally {
    // Releases the connection of a response that was not read completely.
    end.abort();
  }
}

interface Received extends FetchedHead {
  readonly body: AsyncIterable<unknown> | null;
}

/** Libraries are loaded on first use: few hosts fetch anything, and startup is faster without. */
async function send(url: string, hasProxy: boolean, request: RequestInit): Promise<Received> {
  if (!hasProxy) return (await import('node-fetch')).default(url, request);
  const { EnvHttpProxyAgent, fetch } = await import('undici');
  // Verification cannot be disabled, not even by `NODE_TLS_REJECT_UNAUTHORIZED`.
  const requestTls = { rejectUnauthorized: true };
  proxies ??= new EnvHttpProxyAgent({ proxyTunnel: false, requestTls, connect: requestTls });
  const init = { ...request, dispatcher: proxies } as Parameters<typeof fetch>[1];
  return fetch(url, init).catch((error: Error) => {
    // The error of the connection is the cause of that of fetch.
    throw error.cause ?? error;
  });
}

/** Whether the environment names a proxy, as curl and Git read it; never for this machine. */
function mayHaveProxy(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const hostname = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return !isLoopbackAddress(hostname) && PROXY_VARIABLES.some((name) => process.env[name]);
}

/** @throws BodyTooLong */
async function readBody({ body }: Received, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > maxBytes) throw new BodyTooLong();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
