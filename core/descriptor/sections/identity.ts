import { array, boolean, dynamic, object } from 'superstruct';
import { type AnyStruct, described, when, withDefault } from '../../contract/described.js';
import { isMapping } from '../../lib/read-member.js';
import { capability } from '../identifiers.js';
import { defineSection } from '../section.js';

const mapping = object({
  scopes: described(array(capability), {
    description:
      'The scopes that the token may hold; one that ends in * stands for all with its start.',
  }),
});

/** Whether calls carry `modgate-identity`, and which scopes it may hold. */
const choice = described(
  dynamic<boolean | { scopes: string[] }>(
    (value): AnyStruct => (isMapping(value) ? mapping : boolean()) as AnyStruct,
  ),
  when({ type: 'object' }, mapping, boolean()),
);

export const identity = defineSection({
  struct: withDefault(choice, false, {
    description: 'Whether each call carries modgate-identity, a signed token that names the actor.',
  }),
});

/**
 * The scopes of callers that a module learns by `modgate-identity`: capabilities of its manifest,
 * within the bounds of the descriptor.
 */
export function listLearnedScopes(
  bounds: boolean | { readonly scopes: readonly string[] },
  capabilities: readonly string[],
): readonly string[] {
  if (typeof bounds === 'boolean') return bounds ? capabilities : [];
  return capabilities.filter((scope) => bounds.scopes.some((pattern) => admits(pattern, scope)));
}

function admits(pattern: string, scope: string): boolean {
  return pattern.endsWith('*') ? scope.startsWith(pattern.slice(0, -1)) : scope === pattern;
}
