import { randomUUID } from 'node:crypto';
import { followsReleases, readModulesFolder, releasesFolder } from '../config/modules-folder.js';
import { ModuleRegistry } from '../modules/module-registry.js';
import { SharedProbation } from '../modules/shared-probation.js';
import { createCandidateMetric } from '../observability/metrics/host-metrics.js';
import {
  createEventLoopMetric,
  createStreamsMetric,
} from '../observability/metrics/process-metrics.js';
import { LeasedLeadership } from '../operations/fleet/leased-leadership.js';
import { LOG, MODULES_FOLDER } from '../operations/injection-tokens.js';
import { shareModuleOverview } from '../operations/status/merge-modules.js';
import { MODULE_OVERVIEW } from '../operations/status/module-overview.js';
import { CANDIDATES, shareCandidates } from '../operations/status/read-candidate.js';
import { SHARED_MODULE_FILES } from '../operations/status/shared-module-files.js';
import { PluginWatcher } from '../plugin-loader/plugin-watcher.js';
import { CandidateReports } from '../provider/candidate/candidate-reports.js';
import { openCandidate } from '../provider/candidate/open-candidate.js';
import { EventLoopDelay } from '../provider/event-loop-delay.js';
import { LoadShedder } from '../provider/load-shedding.js';
import { OpenStreams } from '../provider/open-streams.js';
import { RedisRates } from '../provider/redis-rates.js';
import { ACCESS } from './access.js';
import { CONFIG, definePart, PROCESSES, provide } from './part.js';
import { PLUGINS_PART } from './plugins.js';
import { RECORDS } from './records.js';
import { RELEASES } from './releases.js';
import { STORAGE } from './storage.js';

/** The modules of the modules folder with their plugins. */
export const MODULES = definePart(
  'modules',
  [
    CONFIG,
    LOG,
    PROCESSES,
    PLUGINS_PART.token,
    ACCESS.token,
    STORAGE.token,
    RECORDS.token,
    RELEASES.token,
  ],
  async (config, log, processes, { plugins }, access, { store, identity }, records, releases) => {
    const loopDelay = new EventLoopDelay();
    const openStreams = new OpenStreams();
    const { redis: url, fleet } = config;
    const shared =
      url === null ? null : await RedisRates.open({ url, fleet, local: access.rates, log });
    const candidateReports = new CandidateReports();
    const { leadership } = processes;
    const fleetLeadership =
      fleet === null
        ? null
        : new LeasedLeadership({
            ...{ leadership, fleet, leases: store.fleetLeases },
            host: records.host ?? randomUUID(),
          });
    const { rejections, ...files } = processes.connect(SHARED_MODULE_FILES);
    const registry = new ModuleRegistry({
      store,
      modulesDir: readModulesFolder(config),
      ...(followsReleases(config) && {
        linkFolder: releasesFolder(config.state),
        allowsReference: releases.allowsReference,
        lacksRelease: () => releases.follower?.lacksRelease === true,
      }),
      stateDir: config.state,
      ...files,
      leadership,
      ...(fleetLeadership && { fleetLeadership }),
      sharedProbation: new SharedProbation(processes, rejections),
      ...releases.descriptors,
      publicOrigin: config.publicUrl,
      loadShedder: new LoadShedder(config, loopDelay),
      openStreams,
      rates: shared ?? access.rates,
      observers: { open: (version) => openCandidate(version, candidateReports) },
      drainMs: config.drainMs,
      identity,
      callerTokens: access.tokens,
      log,
    });
    await registry.start();
    // A module may have been rejected because of an issuer that the file lacked.
    access.tokens.onIssuersChange(() => registry.rescan());
    const watcher = new PluginWatcher(plugins, log, () => registry.rescan());
    watcher.start();
    const overview = shareModuleOverview(processes, registry);
    const askFolders = processes.share('release', () => registry.appliedFolder);
    const isApplied = async (release: string) => {
      const { answers } = await askFolders(null);
      const serving = answers.filter(({ isServing }) => isServing);
      return serving.every(({ answer }) => answer !== null && release.endsWith(`:${answer}`));
    };
    return {
      registry,
      unreadyReason: () =>
        processes.unreadyReason() ?? (registry.lacksRelease ? 'no release' : null),
      overview,
      isApplied,
      fleetLeadership,
      openStreams,
      provides: [
        provide(MODULES_FOLDER, readModulesFolder(config)),
        provide(ModuleRegistry, registry),
        provide(MODULE_OVERVIEW, overview),
        provide(CANDIDATES, shareCandidates(processes, candidateReports)),
      ],
      metrics: [
        createEventLoopMetric(loopDelay),
        createStreamsMetric(openStreams),
        createCandidateMetric(candidateReports),
      ],
      // Reloads plugins first, so that a module can use a new one.
      reload: () => void watcher.scan(true).then(() => registry.rescan()),
      close: async () => {
        watcher.close();
        await registry.close();
        shared?.close();
        loopDelay.close();
      },
    };
  },
);
