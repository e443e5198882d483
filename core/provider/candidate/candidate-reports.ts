import type { Difference } from '../../lib/json/compare-json.js';

/**
 * What became of a copy.
 * - `failed`: no answer that can be compared
 * - `dropped`: it was not made, or not compared, to spare the host
 */
export const COPY_RESULTS = ['same', 'different', 'failed', 'dropped'] as const;

export type CopyResult = (typeof COPY_RESULTS)[number];

export type RouteTotals = { readonly route: string } & Record<CopyResult, number>;

/** Two answers to one request that differ; never a value of either. */
export interface FoundDifference {
  readonly at: string;
  /** `GET /items/{id}` */
  readonly route: string;
  /** Statuses. */
  readonly live: number;
  readonly candidate: number;
  readonly request_id: string;
  readonly pointers: readonly Difference[];
}

/** What is known of the candidate of one module. */
export interface CandidateReport {
  readonly totals: readonly RouteTotals[];
  /** Newest first. */
  readonly differences: readonly FoundDifference[];
}

const MAX_DIFFERENCES = 100;

export const NO_REPORT: CandidateReport = { totals: [], differences: [] };

/** The report of one module, over all its versions with a candidate. */
export class ModuleReport {
  readonly #totals = new Map<string, RouteTotals>();
  /** Oldest first. */
  #differences: FoundDifference[] = [];
  /** Versions that write to it. */
  versions = 0;

  /** Forgets routes that are no longer there; those of the version start at zero. */
  keepRoutes(routes: readonly string[]): void {
    const kept = new Set(routes);
    for (const route of this.#totals.keys()) if (!kept.has(route)) this.#totals.delete(route);
    this.#differences = this.#differences.filter(({ route }) => kept.has(route));
    for (const route of routes) {
      if (!this.#totals.has(route)) this.#totals.set(route, { route, ...NOTHING });
    }
  }

  /** A copy of an earlier version may end after its route has gone. */
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

  /** Empty for a module without a candidate. */
  read(module: string): CandidateReport {
    return this.#modules.get(module)?.read() ?? NO_REPORT;
  }

  list(): readonly (readonly [module: string, report: CandidateReport])[] {
    return [...this.#modules].map(([module, report]) => [module, report.read()]);
  }
}

/** The reports of several workers as one. */
export function mergeReports(reports: readonly CandidateReport[]): CandidateReport {
  const totals = new Map<string, RouteTotals>();
  for (const one of reports.flatMap((report) => report.totals)) {
    const sum = totals.get(one.route) ?? { route: one.route, ...NOTHING };
    for (const result of COPY_RESULTS) sum[result] += one[result];
    totals.set(one.route, sum);
  }
  const differences = reports
    .flatMap((report) => report.differences)
    .toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
    .slice(0, MAX_DIFFERENCES);
  return { totals: [...totals.values()], differences };
}
