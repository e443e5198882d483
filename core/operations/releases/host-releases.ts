import { createToken } from '../../injection.js';
import type { DescriptorContext } from '../../modules/prepare-descriptor.js';

/** How this host takes part in the releases of its fleet. */
export interface HostReleases {
  /** `''` for a host without one. */
  readonly fleet: string;
  /** Whether it belongs to a fleet, so that some of its hosts can try a release. */
  readonly hasFleet: boolean;
  readonly stateDir: string;
  /** Of modgate. */
  readonly version: string;
  /** The references that a release may use: each is one, or its beginning and `*`. */
  readonly patterns: readonly string[];
  /** With which this host would read the descriptors. */
  readonly context: DescriptorContext;
}

export const HOST_RELEASES = createToken<HostReleases>('host-releases');

export const RELEASES_SCOPE = 'modgate.releases';
/** Besides, for releases with code, and for references that are new. */
export const RELEASES_CODE_SCOPE = 'modgate.releases.code';
