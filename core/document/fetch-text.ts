import { isEncoded } from '../lib/content-encoding.js';
import { decodeUtf8 } from '../lib/decode-utf8.js';
import { readMediaType } from '../lib/media-type.js';
import { findCertificateProblem } from '../lib/tls-problem.js';
import { type FetchedHead, FetchFailed, fetchBounded } from './bounded-fetch.js';

interface FetchLimits {
  /** Starts the message of every error: `the manifest's URL`. */
  readonly subject: string;
  readonly accept: string;
  readonly maxBytes: number;
  /** The text for `maxBytes`, such as `4 MiB`. */
  readonly maxText: string;
  /** The limit for the whole response. */
  readonly timeoutMs: number;
}

interface FetchedResponse {
  readonly text: string;
  /** Lower case, without parameters; unchanged unless it is one media type; empty when absent. */
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
  const { subject, accept, maxBytes, maxText, timeoutMs } = limits;
  try {
    const request = { headers: { accept }, maxBytes, timeoutMs, signal };
    const { response, body } = await fetchBounded(url, request, (received) =>
      assertUsableResponse(received, subject),
    );
    const text = decodeUtf8(body);
    if (text === null) throw unavailable(subject, 'answered with text that is not UTF-8');
    return { text, contentType: readContentType(response) };
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error;
    const problems = {
      timeout: `did not answer in full within ${timeoutMs} ms${error.through}`,
      'max-size': `answered with more than ${maxText}`,
      failed: describeFailure(error),
    };
    throw unavailable(subject, problems[error.reason], error.cause);
  }
}

function describeFailure({ through, cause }: FetchFailed): string {
  const { code } = Object(cause) as { code?: unknown };
  const problem = typeof code === 'string' ? findCertificateProblem(code) : undefined;
  const reason =
    problem === undefined ? ', or the connection was lost' : `: its certificate ${problem}`;
  return `could not be reached${through}${reason}${formatCode(cause)}`;
}

/** The code of the system or of TLS. The message of the error has the URL, which may be secret. */
function formatCode(cause: unknown): string {
  const { code } = Object(cause) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? ` (${code})` : '';
}

function assertUsableResponse({ status, headers }: FetchedHead, subject: string): void {
  if (status >= 300 && status < 400) {
    throw unavailable(subject, 'answered with a redirect, which is never followed');
  }
  if (status !== 200) throw unavailable(subject, `answered with status ${status} instead of 200`);
  if (isEncoded(headers.get('content-encoding'))) {
    throw unavailable(subject, 'answered with a compressed body');
  }
}

function readContentType({ headers }: FetchedHead): string {
  const contentType = headers.get('content-type') ?? '';
  return readMediaType(contentType) ?? contentType;
}

function unavailable(subject: string, rest: string, cause?: unknown): TextUnavailable {
  return new TextUnavailable(`${subject} ${rest}`, { cause });
}
