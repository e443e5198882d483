const JSON_MEDIA_TYPE = /^application\/(?:json|[!#$%&'*+.^_`|~0-9a-z-]+\+json)[ \t]*(?:;|$)/i;

/** `application/json` or `application/*+json`; parameters are ignored. */
export function isJsonMediaType(contentType: string): boolean {
  return contentType === 'application/json' || JSON_MEDIA_TYPE.test(contentType);
}

/**
 * Parses bytes in valid UTF-8; returns `undefined` for invalid JSON. A byte-order mark is not JSON.
 */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
