import type { CustomFetchOptions } from 'openid-client';
import type { Agent, Dispatcher, RequestInit } from 'undici';
import { isProxied, openProxy } from '../../core/contract/outgoing-proxy.js';
import { readAtMost } from '../../core/contract/read-at-most.js';

/** A response exceeds the limit. */
export class ResponseTooLong extends Error {
  override readonly name = 'ResponseTooLong';
}

let agent: Agent | null = null;

/**
 * Creates a fetch for openid-client, which limits the time but not the size.
 * @returns rejects with ResponseTooLong, and with the errors of fetch.
 */
export function createIssuerFetch(maxBytes: number) {
  return async (url: string, options: CustomFetchOptions): Promise<Response> => {
    if (isProxied(url)) {
      const proxy = await openProxy();
      // Canceled requests do not close tunnels that the proxy has not opened yet.
      return send(url, options, proxy, maxBytes).finally(() => proxy.destroy());
    }
    // Loaded only if an issuer is called: it slows down the start.
    const { Agent } = await import('undici');
    // Verification cannot be disabled, not even by `NODE_TLS_REJECT_UNAUTHORIZED`.
    agent ??= new Agent({ connect: { rejectUnauthorized: true } });
    return send(url, options, agent, maxBytes);
  };
}

async function send(
  url: string,
  { body: sent, headers, ...rest }: CustomFetchOptions,
  dispatcher: Dispatcher,
  maxBytes: number,
): Promise<Response> {
  const { fetch } = await import('undici');
  const init = {
    ...rest,
    body: sent ?? null,
    // A compressed response could exceed the received size by far.
    headers: { ...headers, 'accept-encoding': 'identity' },
    dispatcher,
  };
  // The types of undici and of Node differ, but the values do not.
  const response = await fetch(url, init as RequestInit);
  const { body, status, statusText } = response;
  const head = { status, statusText, headers: [...response.headers] as [string, string][] };
  if (body === null) return new Response(null, head);
  const bytes = await readAtMost(body as AsyncIterable<Uint8Array>, maxBytes);
  if (bytes !== null) return new Response(bytes, head);
  throw new ResponseTooLong(`the response of the issuer exceeds ${maxBytes / 1024} KiB`);
}
