import { configDescription, describeConfig } from '../contract/describe-config.js';
import type { ConfigDescription } from '../contract/index.js';
import type { Violation } from '../document/diagnostic.js';
import { validateStruct } from '../document/validate.js';
import { toError } from '../lib/to-error.js';
import type { DescriptorAdapter } from './section.js';

/**
 * What the adapter says of a config that it accepts.
 * @param path the place of the config in the descriptor
 */
export function readDescription(
  adapter: DescriptorAdapter,
  config: unknown,
  path: readonly string[],
): { readonly value: ConfigDescription | null; readonly violations: readonly Violation[] } {
  try {
    return { value: describeConfig(adapter, config, isDescription), violations: [] };
  } catch (error) {
    const { message } = toError(error);
    const violation = { rule: 'plugin-failed', message, hint: null, path, at: 'value' } as const;
    return { value: null, violations: [violation] };
  }
}

/** As superstruct decides, in a third of the time. */
function isDescription(description: unknown): boolean {
  return validateStruct(description, configDescription).violations.length === 0;
}
