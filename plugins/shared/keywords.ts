import type { Keywords } from '../../core/contract/index.js';

/** The value of `dependentRequired`: a certificate requires its key. */
export const CERTIFICATE_PAIR = { cert: ['key'], key: ['cert'] };

/** The keywords of a mapping with exactly one member. */
export function oneMember(description: string): Keywords {
  return { minProperties: 1, maxProperties: 1, description };
}
