import type { CustomFetchOptions } from 'openid-client';
import { Agent, fetch, type RequestInit } from 'undici';

/** A response that is longer than it may be. */
export class ResponseTooLong extends Error {
  override readonly name = 'ResponseTooLong';
}

/** Verification cannot be switched off, not even by `NODE_TLS_REJECT_UNAUTHORIZED`. */
const agent = new Agent({ connect: { rejectUnauthorized: true } });

/**
 * A fetch for openid-client, which limits the time and not the size.
 * @returns rejects with ResponseTooLong, and with what fetch throws.
 */
export function createIssuerFetch(maxBytes: number) {
  return async (url: string, options: CustomFetchOptions): Promise<Response> => {
    const { body: sent, headers, ...rest } = options;
    const init = {
      ...rest,
      body: sent ?? null,
      // A compressed response could be much larger than what was received.
      headers: { ...headers, 'accept-encoding': 'identity' },
      dispatcher: agent,
    };
    // The types of undici and of Node differ, and the values do not.
    const response = await fetch(url, init as RequestInit);
    const { body, status, statusText } = response;
    const head = { status, statusText, headers: [...response.headers] as [string, string][] };
    if (body === null) return new Response(null, head);
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      size += piece.length;
      if (size > maxBytes) {
        throw new ResponseTooLong(`the response of the issuer exceeds ${maxBytes / 1024} KiB`);
      }
      pieces.push(piece);
    }
    return new Response(Buffer.concat(pieces), head);
  };
}
