import type { ConfigPath } from '../contract/index.js';

/** The place in a descriptor of a member of the provider's config. */
export function toDescriptorPath(path: ConfigPath): readonly string[] {
  return ['provider', 'config', ...path];
}
