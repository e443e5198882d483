import type { CandidateReport, FoundDifference } from '../../contract/candidate-report.js';

/**
 * The result of a copy.
 * - `failed`: no comparable response
 * - `dropped`: it was not made, or not compared, to limit the load of the host
 */
export const COPY_RESULTS = ['same', 'different', 'failed', 'dropped'] as const;

export type CopyResult = (typeof COPY_RESULTS)[number];

type RouteTotals = { readonly route: string } & Record<CopyResult, number>;

const MAX_DIFFERENCES = 100;

const NO_REPORT: CandidateReport = { totals: [], differences: [] };

/** The report of one module, over all its versions with a candidate. */
export class ModuleReport {
  readonly #totals = new Map<string, RouteTotals>();
  /** Oldest first. */
  #differences: FoundDifference[] = [];
  /** The number of versions that write to it. */
  versions = 0;

  /** Removes routes that no longer exist; routes of the version start at zero. */
  keepRoutes(routes: readonly string[]): void {
    const currentRoutes = new Set(routes);
    for (const route of this.#totals.keys())
      if (!currentRoutes.has(route)) this.#totals.delete(route);
    this.#differences = this.#differences.filter(({ route }) => currentRoutes.has(route));
    for (const route of routes) {
      if (!this.#totals.has(route)) this.#totals.set(route, { route, ...NOTHING });
    }
  }

  /** A copy of an earlier version may end after its route was removed. */
  count(route: string, result: CopyResult): void {
    const totals = this.#totals.get(route);
    if (totals !== undefined) totals[result] += 1;
  }

  addDifference(difference: FoundDifference): void {
    if (!this.#totals.has(difference.route)) return;
    this.#differences.push(difference);
    if (this.#differences.length > MAX_DIFFERENCES) this.#differences.shift();
  }

  read(): CandidateReport {
    return {
      totals: [...this.#totals.values()].map((totals) => ({ ...totals })),
      differences: this.#differences.toReversed(),
    };
  }
}

const NOTHING = { same: 0, different: 0, failed: 0, dropped: 0 };

/** The candidates of this process, by module. */
export class CandidateReports {
  readonly #modules = new Map<string, ModuleReport>();

  /** Call `close` once for each. */
  open(module: string): ModuleReport {
    const report = this.#modules.get(module) ?? new ModuleReport();
    report.versions += 1;
    this.#modules.set(module, report);
    return report;
  }

  close(module: string, report: ModuleReport): void {
    report.versions -= 1;
    if (report.versions === 0 && this.#modules.get(module) === report) this.#modules.delete(module);
  }

  /** Returns an empty report for a module without a candidate. */
  read(module: string): CandidateReport {
    return this.#modules.get(module)?.read() ?? NO_REPORT;
  }

  list(): readonly (readonly [module: string, report: CandidateReport])[] {
    return [...this.#modules].map(([module, report]) => [module, report.read()]);
  }
}

export function mergeReports(reports: readonly CandidateReport[]): CandidateReport {
  const totals = new Map<string, RouteTotals>();
  for (const routeTotals of reports.flatMap((report) => report.totals)) {
    const sum = totals.get(routeTotals.route) ?? { route: routeTotals.route, ...NOTHING };
    for (const result of COPY_RESULTS) sum[result] += routeTotals[result];
    totals.set(routeTotals.route, sum);
  }
  const differences = reports
    .flatMap((report) => report.differences)
    .toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
    .slice(0, MAX_DIFFERENCES);
  return { totals: [...totals.values()], differences };
}
