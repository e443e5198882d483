import type { Response } from 'node-fetch';
import { decodeUtf8 } from '../lib/decode-utf8.js';

interface FetchLimits {
  /** Starts the message of every error: `the manifest's URL`. */
  readonly subject: string;
  readonly accept: string;
  readonly maxBytes: number;
  /** The words for `maxBytes`, such as `4 MiB`. */
  readonly maxText: string;
  /** For the whole response. */
  readonly timeoutMs: number;
}

interface FetchedResponse {
  readonly text: string;
  /** Lower case, without parameters; empty when absent. */
  readonly contentType: string;
}

/** There was no usable response; the request may be repeated. */
export class TextUnavailable extends Error {
  override readonly name = 'TextUnavailable';
}

/**
 * Gets a text for the control plane: status 200, no redirects, no compression, at most `maxBytes`.
 * @throws TextUnavailable for any other response, and without one.
 */
export async function fetchText(
  url: string,
  signal: AbortSignal,
  limits: FetchLimits,
): Promise<FetchedResponse> {
  // Loaded on first use: few hosts fetch texts, and they start faster without the library.
  const { default: fetch } = await import('node-fetch');
  const { subject, accept, maxBytes, timeoutMs } = limits;
  const timeout = AbortSignal.timeout(timeoutMs);
  const end = new AbortController();
  try {
    const response = await fetch(url, {
      headers: { accept, 'accept-encoding': 'identity' },
      compress: false,
      redirect: 'manual',
      size: maxBytes,
      signal: AbortSignal.any([signal, timeout, end.signal]),
    });
    assertUsableResponse(response, subject);
    const text = decodeUtf8(new Uint8Array(await response.arrayBuffer()));
    if (text === null) throw unavailable(subject, 'answered with text that is not UTF-8');
    return { text, contentType: readContentType(response) };
  } catch (error) {
    if (error instanceof TextUnavailable) throw error;
    throw explainFetchError(error, timeout.aborted, limits);
  } finally {
    // Releases the connection of a response that was not read to its end.
    end.abort();
  }
}

function assertUsableResponse({ status, headers }: Response, subject: string): void {
  if (status >= 300 && status < 400) {
    throw unavailable(subject, 'answered with a redirect, which is never followed');
  }
  if (status !== 200) throw unavailable(subject, `answered with status ${status} instead of 200`);
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    throw unavailable(subject, 'answered with a compressed body');
  }
}

function readContentType({ headers }: Response): string {
  const [type = ''] = (headers.get('content-type') ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

function explainFetchError(error: unknown, isTimeout: boolean, limits: FetchLimits): Error {
  const { subject, maxText, timeoutMs } = limits;
  if (isTimeout)
    return unavailable(subject, `did not answer in full within ${timeoutMs} ms`, error);
  // The FetchError of node-fetch, which is not imported here.
  if (error instanceof Error && 'type' in error && error.type === 'max-size') {
    return unavailable(subject, `answered with more than ${maxText}`, error);
  }
  return unavailable(subject, 'could not be reached, or broke off', error);
}

function unavailable(subject: string, rest: string, cause?: unknown): TextUnavailable {
  return new TextUnavailable(`${subject} ${rest}`, { cause });
}
