import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

const SCHEMAS = join('node_modules', 'modgate', 'dist', 'core', 'schemas');

/**
 * The schemas of the package that is installed in the folder or above it, as a path from there: an editor
 * then validates with the version that serves. `null` where there is no such package.
 */
export function findSchemas(folder: string): string | null {
  const start = resolve(folder);
  for (let place = start; ; place = dirname(place)) {
    if (existsSync(join(place, SCHEMAS))) {
      return relative(start, join(place, SCHEMAS)).replaceAll(sep, '/');
    }
    if (dirname(place) === place) return null;
  }
}
