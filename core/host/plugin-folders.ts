import { fileURLToPath } from 'node:url';

const SHIPPED = fileURLToPath(new URL('../../plugins', import.meta.url));

/** The shipped plugins first: of two plugins with one kind, the first keeps it. */
export function findPluginFolders(configured: string | null): string[] {
  return configured === null ? [SHIPPED] : [SHIPPED, configured];
}
