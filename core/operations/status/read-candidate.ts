import { type CandidateReport, candidateReport } from '../../contract/candidate-report.js';
import { HostError } from '../../errors.js';
import { createToken } from '../../injection.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import type { Processes } from '../../processes.js';
import { type CandidateReports, mergeReports } from '../../provider/candidate/candidate-reports.js';
import { defineListing } from '../listing.js';
import { moduleParameter } from '../query.js';
import { defineResource } from '../resource.js';

/** The candidates of the whole host, over all its processes. */
export interface Candidates {
  /** Returns an empty report for a module without a candidate. */
  read(module: string): Promise<CandidateReport>;
}

export const CANDIDATES = createToken<Candidates>('candidates');

export function shareCandidates(
  processes: Pick<Processes, 'share'>,
  reports: Pick<CandidateReports, 'read'>,
): Candidates {
  const askAll = processes.share('candidate', (module: string) => reports.read(module));
  return {
    read: async (module) =>
      mergeReports((await askAll(module)).answers.map(({ answer }) => answer)),
  };
}

/** Compares the responses of a candidate with those of the live provider. */
export const CANDIDATE = defineResource({
  text: 'how the answers of the [candidate](../operate/fifty-services.md#the-next-version-of-a-provider) of a module compare with those of the live provider, newest difference first; both lists are empty for a module without one. 404 for a module that no descriptor has',
  query: { module: { ...moduleParameter, isRequired: true, help: 'Name of the module' } },
  listing: defineListing({
    struct: candidateReport,
    rows: 'totals',
    title: 'Results by route',
    columns: {
      route: { title: 'Route', as: 'code' },
      same: { title: 'Same', as: 'number' },
      different: { title: 'Different', as: 'number' },
      failed: { title: 'Failed', as: 'number' },
      dropped: { title: 'Dropped', as: 'number' },
    },
    help: `Compares the responses of the candidate with those of the live provider: the
results of each route since the host started, and the last differences, newest
first. Values of responses are never shown. The token needs the scope
modgate.candidate.read.`,
    empty: 'the module has no candidate',
    linesAfter: ({ differences }) => differences.flatMap(formatDifference),
  }),
  needs: [ModuleRegistry, CANDIDATES],
  answer: async ({ query: { module } }, registry, candidates) => {
    if (!registry.list().some(({ name }) => name === module)) {
      throw new HostError('not_found', 'no descriptor has the module', {
        errors: [{ field: 'module', reason: 'unknown' }],
        nextActions: ['list the modules with GET /modules'],
      });
    }
    return { module, ...(await candidates.read(module)) };
  },
});

function formatDifference(difference: CandidateReport['differences'][number]): string[] {
  const { at, route, live, candidate, request_id, pointers } = difference;
  const status = live === candidate ? `${live}` : `${live} -> ${candidate}`;
  return [
    '',
    `${at}  ${route}  ${status}  ${request_id}`,
    ...pointers.map(({ pointer, kind }) => `  ${kind.padEnd(7)}  ${pointer || '(whole body)'}`),
  ];
}
