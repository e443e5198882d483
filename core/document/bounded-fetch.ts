import type { RequestInit } from 'node-fetch';
import type { ProxyAgent } from 'undici';
import { findCause, isProxied, openProxy } from '../contract/outgoing-proxy.js';
import { readAtMost } from '../contract/read-at-most.js';

interface BoundedRequest extends Pick<RequestInit, 'method' | 'body' | 'headers'> {
  readonly maxBytes: number;
  /** The limit for the whole response. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Authorities to trust instead of the system's, PEM. */
  readonly ca?: Buffer;
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
  /** For messages: ` through the proxy of HTTPS_PROXY` for a request that it carries, or empty. */
  readonly through: string;

  constructor(reason: FetchFailed['reason'], cause: unknown, hasProxy: boolean) {
    super(`fetch: ${reason}`, { cause });
    this.reason = reason;
    this.through = hasProxy ? ' through the proxy of HTTPS_PROXY' : '';
  }
}

class BodyTooLong extends Error {}

/**
 * Sends requests of the control plane: without compression, and without following redirects.
 * @param check throws for a response whose body need not be read
 * @throws FetchFailed
 */
export async function fetchBounded(
  url: string,
  { maxBytes, timeoutMs, signal, ca, headers, ...request }: BoundedRequest,
  check: (response: FetchedHead) => void = () => {},
): Promise<{ readonly response: FetchedHead; readonly body: Uint8Array }> {
  const hasProxy = isProxied(url);
  const timeout = AbortSignal.timeout(timeoutMs);
  const end = new AbortController();
  const fail = (cause: unknown): never => {
    const reason = cause instanceof BodyTooLong ? 'max-size' : 'failed';
    throw new FetchFailed(timeout.aborted ? 'timeout' : reason, cause, hasProxy);
  };
  const init: RequestInit = {
    ...request,
    redirect: 'manual',
    headers: { 'accept-encoding': 'identity', ...headers },
    compress: false,
    signal: AbortSignal.any([timeout, end.signal, ...(signal ? [signal] : [])]),
  };
  let proxy: ProxyAgent | undefined;
  try {
    if (hasProxy) proxy = await openProxy(ca).catch(fail);
    const sending = proxy === undefined ? send(url, init, ca) : sendThrough(proxy, url, init);
    const response = await sending.catch(fail);
    check(response);
    return { response, body: await readBody(response, maxBytes).catch(fail) };
  } finally {
    // Releases the connection of a response that was not read completely.
    end.abort();
    await proxy?.destroy();
  }
}

interface Received extends FetchedHead {
  readonly body: AsyncIterable<unknown> | null;
}

// Libraries are loaded on first use: few hosts fetch anything, and startup is faster without.

async function send(url: string, init: RequestInit, ca?: Buffer): Promise<Received> {
  const { default: fetch } = await import('node-fetch');
  if (ca === undefined || !url.startsWith('https:')) return fetch(url, init);
  const { Agent } = await import('node:https');
  return fetch(url, { ...init, agent: new Agent({ ca }) });
}

async function sendThrough(proxy: ProxyAgent, url: string, init: RequestInit): Promise<Received> {
  const { fetch } = await import('undici');
  // The types of undici and node-fetch differ, but the values do not.
  const request = { ...init, dispatcher: proxy } as Parameters<typeof fetch>[1];
  return fetch(url, request).catch((error) => {
    throw findCause(error);
  });
}

/** @throws BodyTooLong */
async function readBody({ body }: Received, maxBytes: number): Promise<Uint8Array> {
  const bytes = await readAtMost((body ?? []) as AsyncIterable<Uint8Array>, maxBytes);
  if (bytes === null) throw new BodyTooLong();
  return bytes;
}
