import { compareNames } from '../../lib/compare-texts.js';
import type { GenerationSource, LiveModule } from '../../modules/live-module.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { moduleParameter } from '../query.js';
import type { CallerRequest } from '../request.js';
import { defineResource } from '../resource.js';
import { listExposed } from './exposed-operations.js';
import { admitCaller, admitsAddress, mayCall } from './may-call.js';
import { createUnexposed } from './named-operation.js';

/** Lists exposed operations that the caller may call, by module. */
export const OPERATIONS = defineResource({
  text: '`{"modules":[{name, operations}]}`: the ids of the operations that modules [expose to agents](../specification.md#operations-for-agents) and the caller may call, in the order of the manifest; `?module=` limits it to one',
  query: { module: moduleParameter },
  needs: [ModuleRegistry],
  answer: ({ query, request }, { current }) => {
    const modules = [...current.values()]
      .filter(({ name }) => query.module === null || name === query.module)
      .sort(compareNames)
      .map((module) => ({ name: module.name, operations: listCallable(module, request) }))
      .filter(({ operations }) => operations.length > 0);
    return { modules };
  },
});

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
  throw createUnexposed();
}
