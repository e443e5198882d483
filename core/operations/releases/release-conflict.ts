import { HostError } from '../../errors.js';

/** Names the active release, so that the author can use it as the base. */
export function createConflict({
  active,
  canary,
}: {
  readonly active: string | null;
  readonly canary: string | null;
}): HostError {
  if (canary !== null) {
    return new HostError('conflict', 'a canary is being tried', {
      errors: [{ field: 'canary', reason: canary }],
      nextActions: ['wait for its verdict, or end it with modgate rollback'],
    });
  }
  return new HostError('conflict', 'another release is active than the base of this one', {
    errors: [{ field: 'base', reason: active ?? 'no release is active' }],
    nextActions: ['read it with modgate releases pull, and publish again'],
  });
}
