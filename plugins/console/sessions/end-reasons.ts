export const END_REASONS = ['signed_out', 'expired', 'revoked'] as const;
export type EndReason = (typeof END_REASONS)[number];

/** The reason of a 401, by which the page recognizes it. */
export function describeEnd(reason: EndReason): string {
  return `session ${reason.replace('_', ' ')}`;
}
