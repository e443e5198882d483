import { injectable } from 'tsyringe';
import { inject, MODULE_OVERVIEW } from '../../injection.js';
import type { ModuleRecord } from '../../modules/module-record.js';
import { decide } from '../authorisation.js';
import { Answer, type Operation } from '../operation.js';
import type { CallerRequest } from '../request.js';
import { describeModuleRecord, type ModuleEntry } from './module-list.js';

export interface ModuleRecords {
  /** One a descriptor, in the order of their names. */
  list(): readonly ModuleRecord[];
  readonly ignored: readonly IgnoredEntry[];
}

interface IgnoredEntry {
  readonly file: string;
  readonly reason: string;
}

/** What the whole host, of however many processes, made of its descriptors. */
export interface ModuleList {
  /** In the order of their names. */
  readonly modules: readonly ModuleEntry[];
  readonly ignored: readonly IgnoredEntry[];
  /** How many processes serve. */
  readonly workers: number;
}

export interface ModuleOverview {
  read(): Promise<ModuleList>;
}

/** The overview of a host that is one process. */
export function createModuleOverview(records: ModuleRecords): ModuleOverview {
  return {
    read: async () => ({
      modules: records.list().map(describeModuleRecord),
      ignored: records.ignored,
      workers: 1,
    }),
  };
}

/** `GET /modules` (contract 7 and 9): what the host made of each descriptor. */
@injectable()
export class ModuleStatus implements Operation<null> {
  readonly #overview: ModuleOverview;

  constructor(@inject(MODULE_OVERVIEW) overview: ModuleOverview) {
    this.#overview = overview;
  }

  async execute(_input: null, request: CallerRequest): Promise<Answer> {
    const decision = decide(request.actor, { kind: 'scope', scope: 'modgate.modules.read' });
    const { modules, ignored, workers } = await this.#overview.read();
    return Answer.ofText(decision, JSON.stringify({ modules, ignored, workers }));
  }
}
