import { createToken, injectable } from '../../injection.js';
import type { PluginStatus } from '../../plugin-loader/plugin-status.js';
import { authorize } from '../authorization.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { SURFACES, type SurfaceStatuses } from './surface-status.js';

export const PLUGINS = createToken<PluginStatuses>('plugins');

interface PluginStatuses {
  /** Lists plugins in the order of their discovery: of two with one kind, the first is used. */
  list(): readonly PluginStatus[];
}

/** Handles `GET /plugins`: lists the state of each plugin, and of each surface. */
@injectable(PLUGINS, SURFACES)
export class ListPlugins implements Handler<null> {
  readonly #plugins: PluginStatuses;
  readonly #surfaces: SurfaceStatuses;

  constructor(plugins: PluginStatuses, surfaces: SurfaceStatuses) {
    this.#plugins = plugins;
    this.#surfaces = surfaces;
  }

  async execute(_input: null, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, {
      kind: 'scope',
      scope: 'modgate.plugins.read',
    });
    const body = { plugins: this.#plugins.list(), surfaces: this.#surfaces.list() };
    return Reply.json(authorization, body);
  }
}
