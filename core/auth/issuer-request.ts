import { FetchFailed, fetchBounded } from '../document/bounded-fetch.js';
import { skipMark } from '../lib/byte-order-mark.js';
import { isEncoded } from '../lib/content-encoding.js';
import { decodeUtf8 } from '../lib/decode-utf8.js';
import { parsePlainJson } from './strict-json.js';

/** The time from the request to the last byte of the response. Milliseconds. */
const ISSUER_TIMEOUT_MS = 5000;
/** A key set has a few kilobytes. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/** The issuer gave no usable response; the message continues a sentence that starts with its name. */
export class IssuerError extends Error {
  override readonly name = 'IssuerError';
}

/**
 * Requests JSON from an issuer: no redirects, no compression, at most 256 KiB, at most 5 s.
 * @throws IssuerError
 */
export async function requestIssuer(
  url: string,
  request: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly signal?: AbortSignal;
  } = {},
): Promise<unknown> {
  const limits = { maxBytes: MAX_RESPONSE_BYTES, timeoutMs: ISSUER_TIMEOUT_MS };
  const headers = { accept: 'application/json', ...request.headers };
  try {
    const { body } = await fetchBounded(url, { ...request, ...limits, headers }, (response) => {
      if (!response.ok) throw new IssuerError(`responded with ${response.status}`);
      if (isEncoded(response.headers.get('content-encoding'))) {
        throw new IssuerError('responded with an encoding that was not asked for');
      }
    });
    const text = decodeUtf8(skipMark(Buffer.from(body)));
    const value = text === null ? undefined : parsePlainJson(text);
    if (value === undefined) throw new IssuerError('did not respond with JSON');
    return value;
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error;
    throw new IssuerError(describeFailure(url, error), { cause: error.cause });
  }
}

function describeFailure(url: string, { reason, cause, through }: FetchFailed): string {
  const place = `${new URL(url).origin}${through}`;
  if (reason === 'timeout')
    return `did not respond within ${ISSUER_TIMEOUT_MS / 1000} s at ${place}`;
  if (reason === 'max-size') return `sent more than ${MAX_RESPONSE_BYTES / 1024} KiB from ${place}`;
  const { code = 'the connection was lost' } = cause as { readonly code?: string };
  return `cannot be reached at ${place} (${code})`;
}
