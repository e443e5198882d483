import type { Response } from 'node-fetch';
import { MAX_TEXT_LENGTH, type TextFormat } from '../document/parse-document.js';
import { decodeUtf8 } from '../lib/decode-utf8.js';

/** The manifest is not available now; the request may be repeated. */
export class ManifestUnavailable extends Error {
  override readonly name = 'ManifestUnavailable';
}

/** For the whole response. */
const FETCH_TIMEOUT_MS = 5000;

const JSON_TYPE = /^application\/(?:json|[^\s;]+\+json)$/;
const YAML_TYPE = /^(?:application|text)\/(?:yaml|x-yaml|[^\s;]+\+yaml)$/;

export interface FetchedText {
  readonly text: string;
  readonly format: TextFormat;
}

/**
 * Gets the text of a manifest: no redirects, no compression, at most 4 MiB.
 * @throws ManifestUnavailable for any other response, and without one.
 */
export async function fetchManifestText(
  url: string,
  signal: AbortSignal,
  timeoutMs: number = FETCH_TIMEOUT_MS,
): Promise<FetchedText> {
  // Loaded on first use: few manifests have a URL, and the host starts faster without the library.
  const { default: fetch } = await import('node-fetch');
  const timeout = AbortSignal.timeout(timeoutMs);
  const end = new AbortController();
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json, application/yaml', 'accept-encoding': 'identity' },
      compress: false,
      redirect: 'manual',
      size: MAX_TEXT_LENGTH,
      signal: AbortSignal.any([signal, timeout, end.signal]),
    });
    assertUsableResponse(response);
    const format = detectFormat(response, url);
    const text = decodeUtf8(new Uint8Array(await response.arrayBuffer()));
    if (text === null) throw unavailable('answered with text that is not UTF-8');
    return { text, format };
  } catch (error) {
    if (error instanceof ManifestUnavailable) throw error;
    throw explainFetchError(error, timeout.aborted, timeoutMs);
  } finally {
    // Releases the connection of a response that was not read to its end.
    end.abort();
  }
}

function assertUsableResponse({ status, headers }: Response): void {
  if (status >= 300 && status < 400) {
    throw unavailable('answered with a redirect, which is never followed');
  }
  if (status !== 200) throw unavailable(`answered with status ${status} instead of 200`);
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    throw unavailable('answered with a compressed body');
  }
}

/** By the content type; file servers often send a generic one, so the path decides then. */
function detectFormat(response: Response, url: string): TextFormat {
  const type = (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (JSON_TYPE.test(type ?? '')) return 'json';
  if (YAML_TYPE.test(type ?? '')) return 'yaml';
  const { pathname } = new URL(url);
  const isUnspecific = type === '' || type === 'text/plain' || type === 'application/octet-stream';
  if (isUnspecific && /\.json$/i.test(pathname)) return 'json';
  if (isUnspecific && /\.ya?ml$/i.test(pathname)) return 'yaml';
  throw unavailable('answered with a content type that is neither JSON nor YAML');
}

function explainFetchError(error: unknown, isTimeout: boolean, timeoutMs: number): Error {
  if (isTimeout) return unavailable(`did not answer in full within ${timeoutMs} ms`, error);
  // The FetchError of node-fetch, which is not imported here.
  if (error instanceof Error && 'type' in error && error.type === 'max-size') {
    return unavailable('answered with more than 4 MiB', error);
  }
  return unavailable('could not be reached, or broke off', error);
}

function unavailable(rest: string, cause?: unknown): ManifestUnavailable {
  return new ManifestUnavailable(`the manifest's URL ${rest}`, { cause });
}
