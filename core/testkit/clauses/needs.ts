import type { AdapterHarness } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import type { ReferenceFault } from '../reference/reference-protocol.js';

const REASONS = {
  manifest: ({ adapter }: AdapterHarness) =>
    adapter.supports.manifest === true ? null : 'the adapter does not support manifest',
  admin: ({ adapter }: AdapterHarness) =>
    adapter.supports.admin === true ? null : 'the adapter does not support admin',
  configure: ({ adapter }: AdapterHarness) =>
    adapter.supports.configure === true ? null : 'the adapter does not support configure',
  streams: ({ adapter }: AdapterHarness) =>
    adapter.supports.streams === true ? null : 'the adapter does not support streams',
  upgrade: ({ adapter }: AdapterHarness) =>
    adapter.supports.upgrade === true ? null : 'the adapter does not support upgrade',
  down: ({ reference }: AdapterHarness) =>
    reference.down !== undefined && reference.up !== undefined
      ? null
      : 'the provider of this transport cannot be down',
  connections: ({ reference }: AdapterHarness) =>
    reference.connections === undefined ? 'this transport has no connections' : null,
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
