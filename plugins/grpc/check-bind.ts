import type { ModuleProblem, ProviderRoute } from '../../core/contract/index.js';
import { type GrpcOperation, isFieldPath } from './config.js';

/** A parameter in a path, or in a text of `bind`. */
export const PARAMETER = /\{([^{}]+?)(?:\.\.\.)?\}/g;

/** The names of the parameters in the path of a route, or in a text of `bind`. */
export function listParameters(text: string): string[] {
  return [...text.matchAll(PARAMETER)].map(([, name = '']) => name);
}

/** The parameters that an entry of `bind` uses: its own name for a field, or those that compose one. */
export function listBound([name, text]: readonly [string, string]): string[] {
  return isFieldPath(text) ? [name] : listParameters(text);
}

/** Finds entries of `bind` that use parameters that the path does not have. */
export function findUnbound(routes: readonly ProviderRoute[]): ModuleProblem[] {
  return routes.flatMap(({ declared, options }, index) => {
    const names = listParameters(declared.path);
    const { bind = {} } = options as GrpcOperation;
    return Object.entries(bind)
      .filter((entry) => !listBound(entry).every((name) => names.includes(name)))
      .map(([key]) => ({
        path: ['http_routes', index, 'operation', 'grpc', 'bind', key],
        message: 'must name parameters of the path',
        hint: names.length === 0 ? 'remove it' : `use one of ${names.join(', ')}`.slice(0, 200),
      }));
  });
}
