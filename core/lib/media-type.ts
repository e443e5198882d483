import { TOKEN } from './token.js';

/** `image/png`, `image/*` or any type, without parameters. */
export const MEDIA_TYPE_RANGE =
  /^(?:\*\/\*|[!#$%&'+.^_`|~0-9A-Za-z-]+\/(?:\*|[!#$%&'+.^_`|~0-9A-Za-z-]+))$/;

const ANY = '*/*';
const QUOTED = String.raw`"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"`;
/**
 * Many senders leave out the quotes that other characters than those of a token require, as in
 * `boundary=----=_Part_1` and `type=application/json`. A comma would begin another type.
 */
const UNQUOTED = String.raw`[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e\x80-\xff]+`;
/**
 * One media type (RFC 9110, 8.3.1). Blanks before a parameter belong to it alone, so that no text
 * can be matched in several ways.
 */
const MEDIA_TYPE = new RegExp(
  `^[\\t ]*(${TOKEN}/${TOKEN})(?:[\\t ]*;(?:[\\t ]*${TOKEN}=(?:${UNQUOTED}|${QUOTED}))?)*[\\t ]*$`,
);
const JSON_TYPE = /^application\/(?:json|[^/]+\+json)$/;

/**
 * Types that a browser may show as a page, with scripts or parts of other types. Browsers know more
 * XML types than those that the standards name.
 */
const PAGE_TYPE =
  /^(?:image\/.*|multipart\/.*|[^/]+\/(?:html|(?:x-)?pdf|xsl|xml(?:-.*)?|.*\+(?:html|xml)))$/;

/**
 * Reads the type of a `content-type` in lower case, without parameters.
 * @returns `null` for anything but one media type: others may read a second type out of it
 */
export function readMediaType(contentType: string): string | null {
  return MEDIA_TYPE.exec(contentType)?.[1]?.toLowerCase() ?? null;
}

/** `application/json` or `application/*+json`; parameters are ignored. */
export function isJsonMediaType(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  return JSON_TYPE.test(readMediaType(contentType) ?? '');
}

/** Whether a range of media types contains one of JSON. */
export function containsJson(range: string): boolean {
  return isJsonMediaType(range) || isListedType('application/json', [range]);
}

/**
 * Whether a list of ranges contains a media type. Parameters such as `charset` are ignored.
 * @param contentType `undefined` for a body without one, which only a list of all types accepts
 */
export function isListedType(
  contentType: string | undefined,
  ranges: readonly string[] | null,
): boolean {
  if (ranges === null || ranges.includes(ANY)) return true;
  const type = readMediaType(contentType ?? '');
  if (type === null) return false;
  return ranges.some((range) => {
    const listed = range.toLowerCase();
    return listed === type || (listed.endsWith('/*') && type.startsWith(listed.slice(0, -1)));
  });
}

/** Whether a browser may show a body of this type, or of a type of this range, as a page. */
export function isPageType(range: string): boolean {
  const type = range.toLowerCase();
  return type.includes('*') || PAGE_TYPE.test(type);
}

/**
 * Whether an `accept` header names exactly this media type, alone or among others; a wildcard does
 * not count.
 */
export function namesMediaType(accept: string | undefined, mediaType: string): boolean {
  return namesListedType(accept, [mediaType]);
}

/** Whether an `accept` header names a media type of a list of ranges. */
export function namesListedType(accept: string | undefined, ranges: readonly string[]): boolean {
  if (accept === undefined || accept === ANY) return false;
  return splitList(accept).some(
    (range) => isListedType(range, ranges) && !EXCLUDED.test(range.replace(QUOTED_TEXT, '')),
  );
}

const QUOTED_TEXT = new RegExp(QUOTED, 'g');
/** A weight of 0 (RFC 9110, 12.4.2). */
const EXCLUDED = /;[\t ]*q=0(?:\.0{0,3})?[\t ]*(?:;|$)/i;

/** Splits a list at the commas outside of quotes. */
function splitList(list: string): readonly string[] {
  return list.match(/(?:[^",]|"(?:[^"\\]|\\.)*(?:"|$))+/g) ?? [];
}
