import { inject, injectable } from '../../injection.js';
import { authorize } from '../authorization.js';
import { Answer, type Handler } from '../handler.js';
import type { CallerRequest } from '../request.js';
import {
  describeModuleRecord,
  MODULE_OVERVIEW,
  type ModuleOverview,
  type ModuleRecords,
} from './module-list.js';

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
export class ListModules implements Handler<null> {
  readonly #overview: ModuleOverview;

  constructor(@inject(MODULE_OVERVIEW) overview: ModuleOverview) {
    this.#overview = overview;
  }

  async execute(_input: null, request: CallerRequest): Promise<Answer> {
    const authorization = authorize(request.actor, {
      kind: 'scope',
      scope: 'modgate.modules.read',
    });
    const { modules, ignored, workers } = await this.#overview.read();
    return Answer.ofText(authorization, JSON.stringify({ modules, ignored, workers }));
  }
}
