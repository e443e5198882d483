import { createRequire } from 'node:module';

/** The version of this package. */
export function readVersion(): string {
  const manifest = createRequire(import.meta.url)('modgate/package.json') as { version: string };
  return manifest.version;
}
