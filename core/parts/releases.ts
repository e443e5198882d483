import { followsReleases } from '../config/modules-folder.js';
import { HostPrefixes } from '../http/surfaces/host-prefixes.js';
import { DESCRIPTOR_LIMITS, isAllowedReference } from '../modules/releases/inspect-release.js';
import { createReleaseMetrics } from '../observability/metrics/fleet-metrics.js';
import { readHostId } from '../operations/fleet/host-id.js';
import { LOG } from '../operations/injection-tokens.js';
import { HOST_RELEASES } from '../operations/releases/host-releases.js';
import { ReleaseFollower } from '../operations/releases/release-follower.js';
import { readVersion } from '../version.js';
import { ACCESS } from './access.js';
import { CONFIG, definePart, PROCESSES, provide } from './part.js';
import { PLUGINS_PART } from './plugins.js';
import { STORAGE } from './storage.js';

/** What the host reads descriptors with, and the release that it follows, if it does. */
export const RELEASES = definePart(
  'releases',
  [CONFIG, LOG, PROCESSES, PLUGINS_PART.token, ACCESS.token, STORAGE.token],
  async (config, log, { leadership }, { plugins }, { authentication }, { store }) => {
    const { state: stateDir, releaseReferences: patterns } = config;
    const fleet = config.fleet ?? '';
    const version = readVersion();
    const descriptors = {
      plugins,
      environment: process.env,
      credentialHeaders: authentication.credentialHeaders,
      reservedPrefixes: new HostPrefixes(plugins),
      canShareRates: config.redis !== null,
    };
    const bounds = {
      patterns: patterns ?? [],
      allowsReference: (reference: string) => isAllowedReference(reference, patterns ?? []),
    };
    const hostReleases = {
      fleet,
      hasFleet: config.fleet !== null,
      stateDir,
      version,
      patterns: bounds.patterns,
      context: {
        ...descriptors,
        allowsReference: bounds.allowsReference,
        limits: DESCRIPTOR_LIMITS,
      },
    };
    const follower = followsReleases(config)
      ? new ReleaseFollower({
          ...{ store, stateDir, leadership, log, fleet, version },
          host: await readHostId(stateDir),
        })
      : null;
    await follower?.prepare();
    return {
      descriptors,
      allowsReference: bounds.allowsReference,
      /** `null` for a host with a folder of descriptors of its own. */
      follower,
      provides: [provide(HOST_RELEASES, hostReleases)],
      metrics: follower === null ? [] : createReleaseMetrics(follower),
      onDrained: async (isReplaced: boolean) => {
        if (!isReplaced) await follower?.close();
      },
      close: () => follower?.close(),
    };
  },
);
