/**
 * - `off`: the files of plugins are not looked at
 * - `warn`: what `enforce` would refuse is logged, and used
 * - `enforce`: a plugin is used only when each of its files has the digest that it should have
 */
export const INTEGRITY_POLICIES = ['off', 'warn', 'enforce'] as const;

export type IntegrityPolicy = (typeof INTEGRITY_POLICIES)[number];
