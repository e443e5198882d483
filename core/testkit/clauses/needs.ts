import type { AdapterHarness } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import type { ReferenceFault } from '../reference/reference-protocol.js';

const supports =
  (feature: keyof AdapterHarness['adapter']['supports']) =>
  ({ adapter }: AdapterHarness) =>
    adapter.supports[feature] === true ? null : `the adapter does not support ${feature}`;

const REASONS = {
  manifest: supports('manifest'),
  admin: supports('admin'),
  configure: supports('configure'),
  streams: supports('streams'),
  upgrade: supports('upgrade'),
  operation: ({ adapter }: AdapterHarness) =>
    adapter.operation === undefined ? 'the adapter defines no operation' : null,
  checkDescriptor: ({ adapter }: AdapterHarness) =>
    adapter.checkDescriptor === undefined ? 'the adapter has all that descriptors ask for' : null,
  checkManifest: ({ adapter }: AdapterHarness) =>
    adapter.checkManifest === undefined ? 'the adapter carries all that it supports' : null,
  checkRoutes: ({ adapter }: AdapterHarness) =>
    adapter.checkRoutes === undefined ? 'a config says nothing about routes' : null,
  down: ({ reference }: AdapterHarness) =>
    reference.down !== undefined && reference.up !== undefined
      ? null
      : 'the provider of this transport cannot be down',
  connections: ({ reference }: AdapterHarness) =>
    reference.connections === undefined ? 'this transport has no connections' : null,
  holdBodies: ({ reference }: AdapterHarness) =>
    reference.holdBodies === undefined ? 'the provider of this transport reads every body' : null,
  tryCredentials: ({ adapter }: AdapterHarness) =>
    adapter.tryCredentials === undefined ? 'the adapter requests no credentials ahead' : null,
  credentials: ({ reference }: AdapterHarness) =>
    reference.credentials === undefined ? 'the adapter requests no credentials' : null,
  toolResults: supports('toolResults'),
  progress: ({ reference }: AdapterHarness) =>
    reference.progress === undefined ? 'the provider of this transport reports no progress' : null,
  invalid: ({ reference }: AdapterHarness) =>
    reference.invalid === undefined ? 'the adapter can send every call' : null,
  holdStart: ({ reference }: AdapterHarness) =>
    reference.holdStart === undefined ? 'the provider of this transport does not start' : null,
  secrets: ({ reference }: AdapterHarness) =>
    Object.keys(reference.secrets ?? {}).length === 0 ? 'the config has no secrets' : null,
} as const;

/** A precondition of a clause. */
type Need = keyof typeof REASONS | ReferenceFault;

/** Skips the clause with the reason of the first unmet need. */
export function needs(...all: readonly Need[]): NonNullable<AdapterClause['skip']> {
  return (harness) => {
    for (const need of all) {
      const reason = need in REASONS ? REASONS[need as keyof typeof REASONS](harness) : null;
      if (reason !== null) return reason;
      if (!(need in REASONS) && !harness.reference.faults?.includes(need as ReferenceFault)) {
        return `this transport cannot inject the fault '${need}'`;
      }
    }
    return null;
  };
}
