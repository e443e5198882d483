import { inject, injectable } from '../../injection.js';
import type { ModuleRecord } from '../../modules/module-record.js';
import { authorize } from '../authorization.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import {
  MODULE_OVERVIEW,
  MODULE_RECORDS,
  type ModuleEntry,
  type ModuleOverview,
  type ModuleRecords,
} from '../status/module-overview.js';
import { explainRequest } from './explain-request.js';
import {
  type ExplainedPath,
  type ExplainedRecord,
  MODULE_DOCUMENTS,
  type ModuleDocuments,
} from './explained-request.js';
import { TOKEN_OWNERS, type TokenOwners } from './token-owners.js';

export interface ExplainInput {
  readonly method: string;
  /** As on a request line. */
  readonly target: string;
  readonly path: ExplainedPath;
  /** The bearer token of the caller to explain; `null` explains the caller itself. Never logged or sent back. */
  readonly explainAs: string | null;
}

/** `GET /explain`: explains what the host would do with a request, step by step. */
@injectable()
export class Explain implements Handler<ExplainInput> {
  readonly #records: ModuleRecords;
  readonly #overview: ModuleOverview;
  readonly #tokenOwners: TokenOwners;
  readonly #documents: ModuleDocuments;

  constructor(
    @inject(MODULE_RECORDS) records: ModuleRecords,
    @inject(MODULE_OVERVIEW) overview: ModuleOverview,
    @inject(TOKEN_OWNERS) tokenOwners: TokenOwners,
    @inject(MODULE_DOCUMENTS) documents: ModuleDocuments,
  ) {
    this.#records = records;
    this.#overview = overview;
    this.#tokenOwners = tokenOwners;
    this.#documents = documents;
  }

  async execute(input: ExplainInput, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, { kind: 'scope', scope: 'modgate.explain' });
    const { explainAs, ...explained } = input;
    const actor =
      explainAs === null
        ? request.actor
        : await this.#tokenOwners.find(explainAs, request, explained);
    const { modules } = await this.#overview.read();
    const entries = new Map(modules.map((entry) => [entry.file, entry]));
    const records = this.#records
      .list()
      .map((record) => describeRecord(record, entries.get(record.file)));
    const context = { records, documents: this.#documents };
    return Reply.json(authorization, await explainRequest({ ...explained, actor }, context));
  }
}

/** This process has the module; its state is the one of the whole host. */
function describeRecord(record: ModuleRecord, entry: ModuleEntry | undefined): ExplainedRecord {
  const { state, reason, hint } = entry ?? record;
  return { ...record, state, reason, hint, endpoints: entry?.endpoints ?? [] };
}
