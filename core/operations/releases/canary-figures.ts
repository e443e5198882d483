import { REJECTED_STATES } from '../../modules/module-record.js';
import type { CanaryFigures } from '../../store/releases/releases.js';
import type { ModuleEntry } from '../status/module-overview.js';

/** The modules of a host when it began to serve a canary. */
export interface Baseline {
  readonly release: string;
  readonly modules: ReadonlyMap<string, Pick<ModuleEntry, 'counts'> & { readonly state: string }>;
}

/** @param isBefore whether they are the modules of the previous release */
export function takeBaseline(
  release: string,
  modules: readonly ModuleEntry[],
  isBefore: boolean,
): Baseline {
  return {
    release,
    modules: new Map(
      modules.map((entry) => [
        nameOf(entry),
        { counts: entry.counts, state: isBefore ? describeState(entry) : '' },
      ]),
    ),
  };
}

/** The changes of the named modules since then. */
export function countSince(
  { modules: before }: Baseline,
  modules: readonly ModuleEntry[],
  names: readonly string[],
): CanaryFigures {
  const counted: Record<string, { calls: number; failed: number }> = {};
  const rejected: Record<string, string> = {};
  for (const entry of modules) {
    const name = nameOf(entry);
    if (!names.includes(name)) continue;
    const baseline = before.get(name);
    const since = (count: 'calls' | 'failed') =>
      // Counts restart with the host.
      Math.max(0, entry.counts[count] - (baseline?.counts[count] ?? 0));
    counted[name] = { calls: since('calls'), failed: since('failed') };
    const isRejected = REJECTED_STATES.has(entry.state);
    // The host may not have read the release yet, and show a rejection of the previous one.
    if (isRejected && describeState(entry) !== baseline?.state) {
      rejected[name] = entry.reason ?? entry.state;
    }
  }
  return { modules: counted, rejected };
}

function nameOf({ name, file }: ModuleEntry): string {
  return name ?? file;
}

function describeState(entry: ModuleEntry): string {
  const { state, since, rejected_digest, rejected_manifest_digest, rejected_config_digest } = entry;
  const digests = [rejected_digest, rejected_manifest_digest, rejected_config_digest];
  return JSON.stringify([state, since, ...digests]);
}
