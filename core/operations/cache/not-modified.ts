import type { Outcome } from '../../contract/index.js';

/** The conditions that a kept response can decide; the provider does not get them. */
export const DECIDED_CONDITIONS = ['if-none-match', 'if-modified-since'] as const;

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** Whether a client has a 200 already (RFC 9110, 13.1.2 and 13.1.3). @param conditions of the request */
export function isNotModified(
  conditions: { get(name: string): string | undefined },
  headers: Outcome['headers'],
): boolean {
  const tags = conditions.get('if-none-match');
  if (tags !== undefined) return tags.trim() === '*' || listsTag(tags, headers['etag']);
  const since = parseDate(conditions.get('if-modified-since'));
  const modified = parseDate(headers['last-modified']);
  return since !== null && modified !== null && modified <= since;
}

/** Weak comparison: the client asks for what means the same. */
function listsTag(tags: string, tag: string | undefined): boolean {
  if (tag === undefined) return false;
  const own = removeWeakness(tag.trim());
  return (tags.match(ENTITY_TAG) ?? []).some((one) => removeWeakness(one) === own);
}

function removeWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}

function parseDate(text: string | undefined): number | null {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? null : time;
}
