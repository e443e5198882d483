import type {
  Canary,
  CanaryFigures,
  CanaryVerdict,
  ReleaseHost,
} from '../../store/releases/releases.js';

/** The figures of all hosts that serve the canary, including lost ones. */
export function sumFigures(
  { release, hosts, rules }: Pick<Canary, 'release' | 'hosts' | 'rules'>,
  reports: readonly ReleaseHost[],
): CanaryVerdict['modules'] {
  const figures = listFigures({ release, hosts }, reports);
  return Object.fromEntries(
    Object.keys(rules).map((name) => {
      const counts = figures.map(({ modules }) => modules[name]);
      const sum = (count: 'calls' | 'failed') =>
        counts.reduce((total, figures) => total + (figures?.[count] ?? 0), 0);
      return [name, { calls: sum('calls'), failed: sum('failed') }];
    }),
  );
}

/**
 * Decides about a canary by the figures of the fleet: as soon as a module is rejected or fails too
 * often, otherwise when the time is over.
 * @param now the time of the store
 * @returns `null` while it is undecided
 */
export function decideCanary(
  canary: Canary,
  reports: readonly ReleaseHost[],
  now: string,
): CanaryVerdict | null {
  const modules = sumFigures(canary, reports);
  const decide = (outcome: CanaryVerdict['outcome'], reason: string): CanaryVerdict => {
    return { outcome, reason, modules };
  };
  const failure = findRejection(canary, reports) ?? findFailure(canary, modules);
  if (failure !== null) return decide('failed', failure);
  if (now < canary.until) return null;
  const unproven = Object.entries(canary.rules).find(
    ([name, { min_calls }]) => (modules[name]?.calls ?? 0) < min_calls,
  );
  if (unproven !== undefined && !canary.allowUnproven) {
    const [name, { min_calls }] = unproven;
    const calls = modules[name]?.calls ?? 0;
    return decide('unproven', `${name} had ${calls} calls of the ${min_calls} that it needs`);
  }
  return decide('released', 'no module failed its probation');
}

function findRejection({ release, hosts }: Canary, reports: readonly ReleaseHost[]): string | null {
  for (const report of reports) {
    if (!hosts.includes(report.host)) continue;
    if (report.problem?.startsWith(release)) {
      return `${report.host} does not serve it: ${report.problem}`;
    }
    const [rejected] =
      report.figures?.release === release ? Object.entries(report.figures.rejected) : [];
    if (rejected === undefined) continue;
    const [name, reason] = rejected;
    return `${report.host} does not serve its ${name}: ${reason}`;
  }
  return null;
}

function findFailure({ rules }: Canary, modules: CanaryVerdict['modules']): string | null {
  for (const [name, { min_calls, max_error_rate }] of Object.entries(rules)) {
    const { calls, failed } = modules[name] ?? { calls: 0, failed: 0 };
    if (calls < min_calls || failed <= calls * max_error_rate) continue;
    return `${failed} of ${calls} calls of ${name} failed, more than the share of ${max_error_rate}`;
  }
  return null;
}

function listFigures(
  { release, hosts }: Pick<Canary, 'release' | 'hosts'>,
  reports: readonly ReleaseHost[],
): readonly CanaryFigures[] {
  return reports.flatMap(({ host, figures }) =>
    figures?.release === release && hosts.includes(host) ? [figures] : [],
  );
}
