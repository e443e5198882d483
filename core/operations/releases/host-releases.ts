import { createToken } from '../../injection.js';
import type { DescriptorContext } from '../../modules/prepare-descriptor.js';

export interface HostReleases {
  /** `''` for a host without a fleet. */
  readonly fleet: string;
  /** Whether it belongs to a fleet, so that some of its hosts can try a release. */
  readonly hasFleet: boolean;
  readonly stateDir: string;
  /** The version of modgate. */
  readonly version: string;
  /** The references that a release may use: a complete one, or a prefix and `*`. */
  readonly patterns: readonly string[];
  /** The context in which this host would read the descriptors. */
  readonly context: DescriptorContext;
}

export const HOST_RELEASES = createToken<HostReleases>('host-releases');

export const RELEASES_SCOPE = 'modgate.releases';
/** Additionally required for releases with code, and for new references. */
export const RELEASES_CODE_SCOPE = 'modgate.releases.code';
