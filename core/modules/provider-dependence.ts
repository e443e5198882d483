import { randomUUID } from 'node:crypto';
import { digestParts, type PreparedDescriptor } from './prepare-descriptor.js';

/** What is learned of a provider depends on these; versions for which one is equal share it. */
export interface ProviderDependence {
  /** How an endpoint is called: breakers, health. */
  readonly connection: string;
  /** Whose responses are kept, and how they are fetched. */
  readonly content: string;
}

export function describeDependence({
  descriptor,
  adapter,
  references,
}: PreparedDescriptor): ProviderDependence {
  // Each version has a provider of its own.
  if (adapter.supports.perProcess === true) {
    const version = randomUUID();
    return { connection: version, content: version };
  }
  const { provider, limits, identity, forward_headers, responses } = descriptor;
  const { kind, config } = provider;
  const called = [kind, references.digestPart, identity, responses];
  return {
    connection: digestParts([...called, omitEndpoints(config), forward_headers, limits]),
    content: digestParts([...called, config]),
  };
}

/** An endpoint does not depend on the others. */
function omitEndpoints(config: unknown): unknown {
  return typeof config === 'object' && config !== null ? { ...config, endpoints: null } : config;
}
