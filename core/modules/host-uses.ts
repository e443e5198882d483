import { resolve, sep } from 'node:path';
import type { HostUse } from '../contract/index.js';
import type { DescribedProviders } from '../descriptor/section.js';

/**
 * What the configs of the providers of a descriptor name of the host besides references.
 * @returns `null` for an adapter that does not say it
 */
export function listHostUses({
  configDescription,
  furtherProviders,
}: DescribedProviders): readonly HostUse[] | null {
  if (configDescription === null) return null;
  const ofOthers = furtherProviders.flatMap(({ description }) => description?.hostUses ?? []);
  return [...configDescription.hostUses, ...ofOthers];
}

/** Whether a command is one of the host's `PATH`. */
export function isOfPath({ kind, name }: HostUse): boolean {
  return kind === 'command' && !name.includes('/');
}

/** Writes a use of something outside of a folder as a reference; `null` for one inside. */
export function toReference(use: HostUse, folder: string): string | null {
  const { kind, name } = use;
  if (isOfPath(use)) return `${kind}:${name}`;
  const path = resolve(folder, name);
  return path === folder || path.startsWith(folder + sep) ? null : `${kind}:${path}`;
}
