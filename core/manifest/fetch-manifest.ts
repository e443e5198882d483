import { fetchText, TextUnavailable } from '../document/fetch-text.js';
import { MAX_TEXT_LENGTH, type TextFormat } from '../document/parse-document.js';
import { isJsonMediaType } from '../lib/media-type.js';

/** The manifest is currently unavailable; the request may be repeated. */
export class ManifestUnavailable extends Error {
  override readonly name = 'ManifestUnavailable';
  /** A remedy for operators; `null` if they can only wait. */
  readonly hint: string | null;

  constructor(
    message: string,
    { hint, ...options }: ErrorOptions & { readonly hint?: string } = {},
  ) {
    super(message, options);
    this.hint = hint ?? null;
  }
}

/** The limit for the whole response. */
const FETCH_TIMEOUT_MS = 5000;

const SUBJECT = "the manifest's URL";

const YAML_TYPE = /^(?:application|text)\/(?:yaml|x-yaml|[^\s;]+\+yaml)$/;

interface FetchedText {
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
  try {
    const { text, contentType } = await fetchText(url, signal, {
      subject: SUBJECT,
      accept: 'application/json, application/yaml',
      maxBytes: MAX_TEXT_LENGTH,
      maxText: '4 MiB',
      timeoutMs,
    });
    return { text, format: detectFormat(contentType, url) };
  } catch (error) {
    if (!(error instanceof TextUnavailable)) throw error;
    throw new ManifestUnavailable(error.message, { cause: error.cause });
  }
}

/** Uses the content type; for a generic one, which file servers often send, it uses the path. */
function detectFormat(type: string, url: string): TextFormat {
  if (isJsonMediaType(type)) return 'json';
  if (YAML_TYPE.test(type)) return 'yaml';
  const { pathname } = new URL(url);
  const isUnspecific = type === '' || type === 'text/plain' || type === 'application/octet-stream';
  if (isUnspecific && /\.json$/i.test(pathname)) return 'json';
  if (isUnspecific && /\.ya?ml$/i.test(pathname)) return 'yaml';
  throw new ManifestUnavailable(
    `${SUBJECT} answered with a content type that is neither JSON nor YAML`,
  );
}
