import type { CustomFetchOptions } from 'openid-client';

/** Metadata, keys and tokens have a few kilobytes. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/**
 * Fetches a response of an issuer for openid-client, which limits the time and not the size.
 * @throws Error for a longer response.
 */
export async function fetchFromIssuer(url: string, options: CustomFetchOptions): Promise<Response> {
  const { body: sent, headers, ...rest } = options;
  const response = await fetch(url, {
    ...rest,
    body: sent ?? null,
    // A compressed response could be much larger than what was received.
    headers: { ...headers, 'accept-encoding': 'identity' },
  });
  const { body, status, statusText, headers: received } = response;
  if (body === null) return response;
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > MAX_RESPONSE_BYTES) throw new Error('the response of the issuer exceeds 256 KiB');
    pieces.push(piece);
  }
  return new Response(Buffer.concat(pieces), { status, statusText, headers: received });
}
