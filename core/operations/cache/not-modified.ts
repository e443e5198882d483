import type { Outcome } from '../../contract/index.js';
import { parseHttpDate } from '../../lib/http-date.js';

/** The conditions that a cached response can decide; they are not sent to the provider. */
export const DECIDED_CONDITIONS = ['if-none-match', 'if-modified-since'] as const;

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/**
 * Whether a client already has the 200 (RFC 9110, 13.1.2 and 13.1.3). A value that is the very one of
 * the response decides too: some providers leave out the quotes of a tag, or write dates of their own.
 * @param conditions the conditional headers of the request
 */
export function isNotModified(
  conditions: { get(name: string): string | undefined },
  { etag, 'last-modified': lastModified }: Outcome['headers'],
): boolean {
  const tags = conditions.get('if-none-match');
  if (tags !== undefined) return tags.trim() === '*' || isSame(tags, etag) || listsTag(tags, etag);
  const date = conditions.get('if-modified-since') ?? '';
  if (isSame(date, lastModified)) return true;
  const since = parseHttpDate(date);
  const modified = parseHttpDate(lastModified ?? '');
  return since !== null && modified !== null && modified <= since;
}

function isSame(value: string, validator: string | undefined): boolean {
  return value !== '' && value.trim() === validator?.trim();
}

/** Uses weak comparison, because equivalent content suffices. */
function listsTag(tags: string, tag: string | undefined): boolean {
  if (tag === undefined) return false;
  const strongTag = removeWeakness(tag.trim());
  return (tags.match(ENTITY_TAG) ?? []).some((listed) => removeWeakness(listed) === strongTag);
}

function removeWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
