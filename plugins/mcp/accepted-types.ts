const TYPES = ['application/json', 'text/event-stream'] as const;
/** The library looks for the names of both types in this spelling, and knows no ranges. */
export const BOTH_TYPES = TYPES.join(', ');

const EXCLUDED = /;\s*q=0(?:\.0{0,3})?\s*(?:;|$)/;

/** Whether an `accept` header covers JSON and event streams, by name or by a range (RFC 9110, 12.5.1). */
export function acceptsBoth(accept: string | null): boolean {
  if (accept === null) return true;
  const ranges = accept
    .toLowerCase()
    .split(',')
    .filter((range) => !EXCLUDED.test(range))
    .map((range) => range.split(';', 1).join('').trim());
  return TYPES.every((type) =>
    [type, type.replace(/\/.*/, '/*'), '*/*'].some((range) => ranges.includes(range)),
  );
}
