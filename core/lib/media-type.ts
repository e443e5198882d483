/** `image/png`, `image/*` or any type, without parameters. */
export const MEDIA_TYPE_RANGE =
  /^(?:\*\/\*|[!#$%&'+.^_`|~0-9A-Za-z-]+\/(?:\*|[!#$%&'+.^_`|~0-9A-Za-z-]+))$/;

const MEDIA_TYPE = /^([!#$%&'*+.^_`|~0-9a-z-]+)\/[!#$%&'*+.^_`|~0-9a-z-]+$/;
const ANY = '*/*';

/**
 * Whether a list of ranges contains a media type. Parameters such as `charset` are ignored.
 * @param contentType `undefined` for a body without one, which only a list of all types accepts
 */
export function isListedType(
  contentType: string | undefined,
  ranges: readonly string[] | null,
): boolean {
  if (ranges === null || ranges.includes(ANY)) return true;
  const [essence = ''] = (contentType ?? '').split(';', 1);
  const name = essence.trim().toLowerCase();
  const type = MEDIA_TYPE.exec(name)?.[1];
  if (type === undefined) return false;
  return ranges.some((range) => {
    const listed = range.toLowerCase();
    return listed === name || listed === `${type}/*`;
  });
}

/**
 * Whether an `accept` header names exactly this media type, alone or among others; a wildcard does
 * not count.
 */
export function namesMediaType(accept: string | undefined, mediaType: string): boolean {
  if (accept === undefined || accept === ANY) return false;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === mediaType && !parameters.some((part) => /^q=0(?:\.0{0,3})?$/.test(part));
  });
}
