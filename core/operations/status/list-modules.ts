import { injectable } from '../../injection.js';
import { authorize } from '../authorization.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { MODULE_OVERVIEW, type ModuleOverview } from './module-overview.js';

/** Handles `GET /modules`: lists the state of each descriptor. */
@injectable(MODULE_OVERVIEW)
export class ListModules implements Handler<null> {
  readonly #overview: ModuleOverview;

  constructor(overview: ModuleOverview) {
    this.#overview = overview;
  }

  async execute(_input: null, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, {
      kind: 'scope',
      scope: 'modgate.modules.read',
    });
    const { modules, ignored, workers } = await this.#overview.read();
    return Reply.json(authorization, { modules, ignored, workers });
  }
}
