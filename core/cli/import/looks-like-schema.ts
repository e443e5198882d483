/** Keywords that have a meaning anywhere in a document. */
const KEYWORDS = new Set(['$anchor', '$dynamicAnchor', '$id', '$ref', '$schema']);

export const LOOKS_LIKE_SCHEMA = 'tools read its members, such as $id, as keywords';

/** Whether validators of OpenAPI documents would treat an example as a schema. */
export function looksLikeSchema(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => {
    return KEYWORDS.has(name) || looksLikeSchema(member);
  });
}
