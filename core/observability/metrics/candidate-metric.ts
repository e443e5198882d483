import { type CandidateReport, COPY_RESULTS } from '../../provider/candidate/candidate-reports.js';
import type { CollectedMetric, MetricSample } from './collected-metric.js';

interface ObservedCandidates {
  list(): readonly (readonly [module: string, report: Pick<CandidateReport, 'totals'>])[];
}

/** Counts the copies of calls, by result. */
export function createCandidateMetric(candidates: ObservedCandidates): CollectedMetric {
  return {
    name: 'modgate_candidate_total',
    help: 'Copies of calls for the candidate of a module, by whether its answer was that of the live provider.',
    type: 'counter',
    labelNames: ['module', 'route', 'result'],
    read: () =>
      candidates.list().flatMap(([module, { totals }]) =>
        totals.flatMap((candidate) =>
          COPY_RESULTS.map((result): MetricSample => {
            return [{ module, route: candidate.route, result }, candidate[result]];
          }),
        ),
      ),
  };
}
