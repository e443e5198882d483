import { createRequire } from 'node:module';

/** The version of the package that this is. */
export function readVersion(): string {
  const manifest = createRequire(import.meta.url)('modgate/package.json') as { version: string };
  return manifest.version;
}
