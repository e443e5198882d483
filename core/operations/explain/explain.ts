import { authenticateWith } from '../../auth/authenticate.js';
import type { Actor, Authenticator } from '../../contract/index.js';
import { inject, injectable } from '../../injection.js';
import type { ModuleRecord } from '../../modules/module-record.js';
import { authorize } from '../authorization.js';
import { Answer, type Handler } from '../handler.js';
import type { CallerRequest } from '../request.js';
import {
  MODULE_OVERVIEW,
  MODULE_RECORDS,
  type ModuleEntry,
  type ModuleOverview,
  type ModuleRecords,
} from '../status/module-list.js';
import { AUTHENTICATORS } from '../tokens.js';
import { explainRequest } from './explain-request.js';
import {
  type ExplainedPath,
  type ExplainedRecord,
  MODULE_DOCUMENTS,
  type ModuleDocuments,
} from './explained-request.js';

export interface ExplainInput {
  readonly method: string;
  /** As on a request line. */
  readonly target: string;
  readonly path: ExplainedPath;
  /** The bearer token of whom to explain; `null` explains the caller. Never logged, never answered. */
  readonly explainAs: string | null;
}

/** `GET /explain`: what the host would do with a request, step by step, without doing it. */
@injectable()
export class Explain implements Handler<ExplainInput> {
  readonly #records: ModuleRecords;
  readonly #overview: ModuleOverview;
  readonly #authenticators: readonly Authenticator[];
  readonly #documents: ModuleDocuments;

  constructor(
    @inject(MODULE_RECORDS) records: ModuleRecords,
    @inject(MODULE_OVERVIEW) overview: ModuleOverview,
    @inject(AUTHENTICATORS) authenticators: readonly Authenticator[],
    @inject(MODULE_DOCUMENTS) documents: ModuleDocuments,
  ) {
    this.#records = records;
    this.#overview = overview;
    this.#authenticators = authenticators;
    this.#documents = documents;
  }

  async execute(input: ExplainInput, request: CallerRequest): Promise<Answer> {
    const authorization = authorize(request.actor, { kind: 'scope', scope: 'modgate.explain' });
    const { explainAs, ...explained } = input;
    const actor = explainAs === null ? request.actor : await this.#authenticate(explainAs);
    const { modules } = await this.#overview.read();
    const entries = new Map(modules.map((entry) => [entry.file, entry]));
    const records = this.#records
      .list()
      .map((record) => describeRecord(record, entries.get(record.file)));
    const context = { records, documents: this.#documents };
    return Answer.ofText(
      authorization,
      JSON.stringify(await explainRequest({ ...explained, actor }, context)),
    );
  }

  #authenticate(token: string): Promise<Actor | null> {
    return authenticateWith(this.#authenticators, { scheme: 'bearer', token });
  }
}

/** What serves is this process's to tell; how it is doing, the whole host's. */
function describeRecord(record: ModuleRecord, entry: ModuleEntry | undefined): ExplainedRecord {
  const { state, reason, hint } = entry ?? record;
  return { ...record, state, reason, hint, endpoints: entry?.endpoints ?? [] };
}
