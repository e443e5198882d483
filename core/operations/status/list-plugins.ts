import { createToken, inject, injectable } from '../../injection.js';
import type { PluginStatus } from '../../plugin-loader/plugin-status.js';
import { authorize } from '../authorization.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';

export const PLUGINS = createToken<PluginStatuses>('plugins');

export interface PluginStatuses {
  /** In the order in which they were found: of two with one kind, the first is used. */
  list(): readonly PluginStatus[];
}

/** `GET /plugins`: the state of each plugin. */
@injectable()
export class ListPlugins implements Handler<null> {
  readonly #plugins: PluginStatuses;

  constructor(@inject(PLUGINS) plugins: PluginStatuses) {
    this.#plugins = plugins;
  }

  async execute(_input: null, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, {
      kind: 'scope',
      scope: 'modgate.plugins.read',
    });
    return Reply.json(authorization, { plugins: this.#plugins.list() });
  }
}
