import type { NamedOperation } from '../../contract/index.js';

/**
 * Copies the operation of a request, so that the surface cannot change it later.
 * @throws TypeError for one without the names of a module and an operation.
 */
export function readOperation(given: NamedOperation | undefined): NamedOperation | null {
  if (given === undefined) return null;
  const { module, id } = Object(given) as Partial<NamedOperation>;
  if (typeof module === 'string' && typeof id === 'string') return { module, id };
  throw new TypeError("'operation' must be {module, id}, with the names as text");
}
