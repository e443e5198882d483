import { HostError } from '../../errors.js';
import { createToken, injectable } from '../../injection.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import type { CandidateReport } from '../../provider/candidate/candidate-reports.js';
import { authorize } from '../authorization.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';

/** The candidates of the whole host, over all its processes. */
export interface Candidates {
  /** Returns an empty report for a module without a candidate. */
  read(module: string): Promise<CandidateReport>;
}

export const CANDIDATES = createToken<Candidates>('candidates');

/**
 * Handles `GET /candidate`: compares the responses of a candidate with those of the live provider.
 */
@injectable(ModuleRegistry, CANDIDATES)
export class ReadCandidate implements Handler<string> {
  readonly #registry: Pick<ModuleRegistry, 'list'>;
  readonly #candidates: Candidates;

  constructor(registry: Pick<ModuleRegistry, 'list'>, candidates: Candidates) {
    this.#registry = registry;
    this.#candidates = candidates;
  }

  async execute(module: string, request: CallerRequest): Promise<Reply> {
    const scope = 'modgate.candidate.read';
    const authorization = authorize(request.actor, { kind: 'scope', scope });
    if (!this.#registry.list().some(({ name }) => name === module)) {
      throw new HostError('not_found', 'no descriptor has the module', {
        errors: [{ field: 'module', reason: 'unknown' }],
        nextActions: ['list the modules with GET /modules'],
      });
    }
    return Reply.json(authorization, { module, ...(await this.#candidates.read(module)) });
  }
}
