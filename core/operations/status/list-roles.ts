import { Roles } from '../../auth/roles.js';
import { injectable } from '../../injection.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { authorize } from '../authorization.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { createRoleReport } from './role-report.js';

/** Handles `GET /roles`: lists the roles of the roles file, and what their scopes open. */
@injectable(ModuleRegistry, Roles)
export class ListRoles implements Handler<null> {
  readonly #registry: Pick<ModuleRegistry, 'list'>;
  readonly #roles: Pick<Roles, 'table'>;

  constructor(registry: Pick<ModuleRegistry, 'list'>, roles: Pick<Roles, 'table'>) {
    this.#registry = registry;
    this.#roles = roles;
  }

  async execute(_input: null, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, {
      kind: 'scope',
      scope: 'modgate.modules.read',
    });
    const modules = this.#registry
      .list()
      .filter(({ state }) => state !== 'disabled')
      .map(({ name, live }) => ({ name, manifest: live?.manifest ?? null }));
    return Reply.json(authorization, createRoleReport(this.#roles.table, modules));
  }
}
