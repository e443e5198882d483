import { canonicalizeValue } from '../../contract/canonical-value.js';
import { compareTexts } from '../../lib/compare-texts.js';
import { digestText } from '../../lib/hash.js';
import { REJECTED_STATES } from '../../modules/module-record.js';
import type { ModuleEntry } from '../status/module-overview.js';

/** The modules of a host, in the form that the other hosts of its fleet see. */
export interface Served {
  /** Equal for hosts that serve and reject the same modules. */
  readonly digest: string;
  /** Names, or files, of modules that were rejected or whose manifest is pending. */
  readonly rejected: readonly string[];
  /** The names of the served modules, with their digests. */
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
    digest: digestText(canonicalizeValue(parts)),
    rejected: modules.filter(isPending).map(nameOf),
    serves: live.flatMap((entry) =>
      [nameOf(entry), entry.digest, entry.config_digest, entry.file_digest].filter(
        (digest) => digest !== null,
      ),
    ),
  };
}
