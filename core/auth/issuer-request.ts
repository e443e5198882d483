import fetch, { type RequestInit } from 'node-fetch';
import { decodeUtf8 } from '../lib/decode-utf8.js';
import { parsePlainJson } from './strict-json.js';

/** Of one request, to the last byte of its answer. Milliseconds. */
export const ISSUER_TIMEOUT_MS = 5000;
/** A set of keys has some kilobytes. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/** The issuer gave no answer that can be used; the message reads on after its name. */
export class IssuerError extends Error {
  override readonly name = 'IssuerTrouble';
}

/**
 * Asks an issuer for JSON: no redirects, no compression, at most 256 KiB, at most 5 s.
 * @throws IssuerTrouble
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
    if (response.status !== 200) throw new IssuerError(`answered with ${response.status}`);
    const text = decodeUtf8(new Uint8Array(await response.arrayBuffer()));
    const value = text === null ? undefined : parsePlainJson(text);
    if (value === undefined) throw new IssuerError('answered with something that is not JSON');
    return value;
  } catch (error) {
    if (error instanceof IssuerError) throw error;
    const reason = timeout.aborted
      ? `did not answer within ${ISSUER_TIMEOUT_MS / 1000} s`
      : 'cannot be reached, or its answer is longer than 256 KiB';
    throw new IssuerError(reason, { cause: error });
  } finally {
    // Frees the connection of an answer that was not read to its end.
    end.abort();
  }
}
