import fetch, { type RequestInit } from 'node-fetch';
import { decodeUtf8 } from '../lib/decode-utf8.js';
import { parsePlainJson } from './strict-json.js';

/** From the request to the last byte of the response. Milliseconds. */
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
  request: Pick<RequestInit, 'method' | 'headers' | 'body'> & {
    readonly signal?: AbortSignal;
  } = {},
): Promise<unknown> {
  const timeout = AbortSignal.timeout(ISSUER_TIMEOUT_MS);
  const end = new AbortController();
  const signals = [timeout, end.signal, ...(request.signal ? [request.signal] : [])];
  try {
    const response = await fetch(url, {
      ...request,
      headers: { accept: 'application/json', 'accept-encoding': 'identity', ...request.headers },
      compress: false,
      redirect: 'manual',
      size: MAX_RESPONSE_BYTES,
      signal: AbortSignal.any(signals),
    });
    if (response.status !== 200) throw new IssuerError(`responded with ${response.status}`);
    const text = decodeUtf8(new Uint8Array(await response.arrayBuffer()));
    const value = text === null ? undefined : parsePlainJson(text);
    if (value === undefined) throw new IssuerError('did not respond with JSON');
    return value;
  } catch (error) {
    if (error instanceof IssuerError) throw error;
    const reason = timeout.aborted
      ? `did not respond within ${ISSUER_TIMEOUT_MS / 1000} s`
      : 'cannot be reached, or its response is longer than 256 KiB';
    throw new IssuerError(reason, { cause: error });
  } finally {
    // Frees the connection of a response that was not read to its end.
    end.abort();
  }
}
