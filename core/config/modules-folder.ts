import { join } from 'node:path';
import { STORE_MODULES } from './setting-kind.js';
import type { HostConfig } from './settings.js';

/** Whether descriptors are releases of the store instead of files of a folder. */
export function followsReleases({ modules }: Pick<HostConfig, 'modules'>): boolean {
  return modules === STORE_MODULES;
}

/** The folder that a host reads its descriptors from: its own, or its copy of a release. */
export function readModulesFolder(config: Pick<HostConfig, 'modules' | 'state'>): string {
  return followsReleases(config) ? releaseLink(config.state) : config.modules;
}

/** Where copies of releases are. */
export function releasesFolder(stateDir: string): string {
  return join(stateDir, 'releases');
}

/** The link to the copy that is served. */
function releaseLink(stateDir: string): string {
  return join(releasesFolder(stateDir), RELEASE_LINK);
}

export const RELEASE_LINK = 'current';
