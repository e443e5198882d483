import canonicalize from 'canonicalize';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { LiveModule } from './live-module.js';
import type { ModuleVersion } from './module-version.js';

/** The parts of a descriptor by their names in the file. */
const PARTS: Readonly<Record<keyof Descriptor, string>> = {
  module: 'module',
  enabled: 'enabled',
  provider: 'provider',
  manifest: 'manifest',
  manifestDigest: 'manifest_digest',
  limits: 'limits',
  rate: 'rate',
  identity: 'identity',
  callers: 'callers',
  forwardHeaders: 'forward_headers',
  responses: 'responses',
  providerErrors: 'provider_errors',
  retry: 'retry',
  breaker: 'breaker',
  records: 'records',
  probation: 'probation',
  schemas: 'schemas',
  console: 'console',
};

/** The changed parts of a module: of its descriptor, its manifest, the files that it names. */
export function listChanges(
  before: LiveModule | null,
  after: ModuleVersion,
  manifestDigest: string,
): string[] {
  if (before === null) return ['added'];
  const { descriptor } = after.prepared;
  const keys = Object.keys(PARTS) as (keyof Descriptor)[];
  const parts = keys
    .filter((key) => canonicalize(before.descriptor[key]) !== canonicalize(descriptor[key]))
    .map((key) => PARTS[key]);
  if (before.manifestDigest !== manifestDigest && !parts.includes('manifest')) {
    parts.push('manifest');
  }
  return parts.length > 0 ? parts : ['files'];
}
