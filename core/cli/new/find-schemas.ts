import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

const SCHEMAS = join('node_modules', 'modgate', 'dist', 'core', 'schemas');

/**
 * Finds the schemas of the package that is installed in the folder or above it, as a relative path. An editor
 * then validates with the same version as the host. `null` without an installed package.
 */
export function findSchemas(folder: string): string | null {
  const start = resolve(folder);
  for (let current = start; ; current = dirname(current)) {
    if (existsSync(join(current, SCHEMAS))) {
      return relative(start, join(current, SCHEMAS)).replaceAll(sep, '/');
    }
    if (dirname(current) === current) return null;
  }
}
