import type { NamedOperation } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import type { LiveRoute, RoutedModule } from '../../modules/live-module.js';
import { type FoundOperation, listExposed } from './exposed-operations.js';

/**
 * Finds the exposed operation of a route that has matched the request of an agent.
 * @throws HostError 404 if the request names another operation than that of the route.
 */
export function findNamedRoute(
  module: RoutedModule,
  { module: name, id }: NamedOperation,
  route: LiveRoute,
): FoundOperation {
  const operation = module.name === name ? listExposed(module).get(id) : undefined;
  if (operation === undefined) throw createUnexposed();
  const { declared } = operation;
  if (declared.kind === 'route' && declared.route === route) return operation;
  throw new HostError('not_found', 'the request does not match the route of the operation', {
    errors: [{ field: 'operation', reason: 'the path belongs to another route' }],
    nextActions: ['use other values for the parameters of the path'],
  });
}

export function createUnexposed(): HostError {
  return new HostError('not_found', 'no operation of this name is exposed to the caller', {
    errors: [{ field: 'operation', reason: 'not exposed' }],
    nextActions: ['see GET /operations for those that the caller may call'],
  });
}
