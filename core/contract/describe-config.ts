import { array, enums, is, optional, pattern, refine, string, type, unknown } from 'superstruct';
import type { ProviderAdapter } from './adapter.js';
import type { ConfigDescription } from './config-description.js';

const path = array(string());

const hostUse = type({
  kind: enums(['socket', 'file', 'command']),
  name: refine(string(), 'a name', (name) => name !== '' && !name.includes('\0')),
});

const exchange = type({
  path,
  issuer: string(),
  tokenUrl: optional(string()),
  withoutCaller: optional(type({ settings: array(string()), hint: string() })),
});

const signer = type({ path, name: string(), configPath: path, config: unknown() });

/** The form of a description. */
export const configDescription = type({
  hostUses: array(hostUse),
  exchange: optional(exchange),
  signer: optional(signer),
  credentialHeaders: optional(array(pattern(string(), /^[^A-Z]+$/))),
  origins: optional(array(string())),
  basePath: optional(pattern(string(), /^(?:\/.*[^/])?$/)),
});

/**
 * @param config accepted by the adapter
 * @param isValid how to check that the description has the form of `configDescription`
 * @returns `null` for an adapter that does not describe its configs
 * @throws Error for an invalid description.
 */
export function describeConfig(
  adapter: Pick<ProviderAdapter, 'kind' | 'describeConfig'>,
  config: unknown,
  isValid: (description: unknown) => boolean = (description) => is(description, configDescription),
): ConfigDescription | null {
  if (adapter.describeConfig === undefined) return null;
  const description: unknown = adapter.describeConfig(config);
  if (isValid(description)) return description as ConfigDescription;
  throw new Error(`the adapter of kind '${adapter.kind}' returns an invalid config description`);
}
