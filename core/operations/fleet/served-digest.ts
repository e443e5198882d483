import canonicalize from 'canonicalize';
import { compareTexts } from '../../lib/compare-texts.js';
import { digestText } from '../../lib/hash.js';
import { REJECTED_STATES } from '../../modules/module-record.js';
import type { ModuleEntry } from '../status/module-overview.js';

/** What a host serves, as the other hosts of its fleet see it. */
export interface Served {
  /** Equal for hosts that serve the same and reject the same. */
  readonly digest: string;
  /** Names, or files, of modules that were rejected or wait for their manifest. */
  readonly rejected: readonly string[];
  /** Names of the modules that are served, with their digests. */
  readonly serves: readonly string[];
}

export function describeServed(modules: readonly ModuleEntry[]): Served {
  const isPending = ({ state }: ModuleEntry) => state === 'waiting' || REJECTED_STATES.has(state);
  const nameOf = ({ name, file }: ModuleEntry) => name ?? file;
  const parts = modules
    .map((entry): [string, string | null, boolean] => [
      nameOf(entry),
      entry.config_digest,
      isPending(entry),
    ])
    .toSorted(([a], [b]) => compareTexts(a, b));
  const live = modules.filter((entry) => entry.config_digest !== null && !isPending(entry));
  return {
    digest: digestText(canonicalize(parts) ?? ''),
    rejected: modules.filter(isPending).map(nameOf),
    serves: live.flatMap((entry) =>
      [nameOf(entry), entry.digest, entry.config_digest, entry.file_digest].filter(
        (one) => one !== null,
      ),
    ),
  };
}
