import { join } from 'node:path';
import { STORE_MODULES } from './setting-kind.js';
import type { HostConfig } from './settings.js';

/** Whether descriptors are releases of the store instead of files of a folder. */
export function followsReleases({ modules }: Pick<HostConfig, 'modules'>): boolean {
  return modules === STORE_MODULES;
}

/** The folder of the descriptors: a local folder, or the host's copy of a release. */
export function readModulesFolder(config: Pick<HostConfig, 'modules' | 'state'>): string {
  return followsReleases(config) ? releaseLink(config.state) : config.modules;
}

export function releasesFolder(stateDir: string): string {
  return join(stateDir, 'releases');
}

/** The link to the current copy. */
function releaseLink(stateDir: string): string {
  return join(releasesFolder(stateDir), RELEASE_LINK);
}

export const RELEASE_LINK = 'current';
