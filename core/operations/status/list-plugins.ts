import { createToken, inject, injectable } from '../../injection.js';
import type { PluginStatus } from '../../plugin-loader/plugin-status.js';
import { authorize } from '../authorization.js';
import { Answer, type Handler } from '../handler.js';
import type { CallerRequest } from '../request.js';

export const PLUGINS = createToken<PluginStatuses>('plugins');

export interface PluginStatuses {
  /** In the order in which they were found: of two with one kind the first keeps it. */
  list(): readonly PluginStatus[];
}

/** `GET /plugins`: what the host made of each plugin. */
@injectable()
export class ListPlugins implements Handler<null> {
  readonly #plugins: PluginStatuses;

  constructor(@inject(PLUGINS) plugins: PluginStatuses) {
    this.#plugins = plugins;
  }

  async execute(_input: null, request: CallerRequest): Promise<Answer> {
    const authorization = authorize(request.actor, {
      kind: 'scope',
      scope: 'modgate.plugins.read',
    });
    return Answer.ofText(authorization, JSON.stringify({ plugins: this.#plugins.list() }));
  }
}
