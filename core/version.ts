import { createRequire } from 'node:module';

export function readVersion(): string {
  const manifest = createRequire(import.meta.url)('modgate/package.json') as { version: string };
  return manifest.version;
}
