import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { compareNames } from '../../lib/compare-texts.js';
import type { GenerationSource, LiveModule } from '../../modules/live-module.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { authorize } from '../authorization.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { listExposed } from './exposed-operations.js';
import { admitCaller, admitsAddress, mayCall } from './may-call.js';

/** Handles `GET /operations`: lists exposed operations that the caller may call, by module. */
@injectable(ModuleRegistry)
export class ListOperations implements Handler<string | null> {
  readonly #generations: GenerationSource;

  constructor(generations: GenerationSource) {
    this.#generations = generations;
  }

  async execute(only: string | null, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, { kind: 'authenticated' });
    const modules = this.#select(only)
      .map((module) => ({ name: module.name, operations: listCallable(module, request) }))
      .filter(({ operations }) => operations.length > 0);
    return Reply.json(authorization, { modules });
  }

  #select(only: string | null): readonly LiveModule[] {
    const { current } = this.#generations;
    if (only === null) return [...current.values()].sort(compareNames);
    const module = current.get(only);
    return module === undefined ? [] : [module];
  }
}

function listCallable(module: LiveModule, { actor, client }: CallerRequest): string[] {
  if (!admitsAddress(module, client)) return [];
  const operations = [...listExposed(module).values()];
  return operations
    .filter(({ declared }) => mayCall(actor, module, declared))
    .map(({ shown }) => shown.id);
}

/**
 * Finds an exposed operation that the caller may call.
 * @throws HostError 404 for an unexposed one; 403 like a call of the caller.
 */
export function findOperation(
  { current }: GenerationSource,
  { module: name, operation: id }: { readonly module: string; readonly operation: string },
  { actor, client }: CallerRequest,
) {
  const module = current.get(name);
  const operation = module && listExposed(module).get(id);
  if (module && operation && admitsAddress(module, client)) {
    admitCaller(actor, module, operation.declared);
    return { module, operation };
  }
  throw new HostError('not_found', 'no operation of this name is exposed to the caller', {
    errors: [{ field: 'operation', reason: 'not exposed' }],
    nextActions: ['see GET /operations for those that the caller may call'],
  });
}
