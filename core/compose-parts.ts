import { createAuthenticators } from './auth/authenticators.js';
import { listChallenges, listCredentialHeaders } from './auth/credential-headers.js';
import { followsReleases, readModulesFolder, releasesFolder } from './config/modules-folder.js';
import type { HostConfig } from './config/read-config.js';
import type { Log } from './contract/index.js';
import type { HostProcess } from './host-process.js';
import type { Authentication } from './http/authenticate-request.js';
import { HostPrefixes } from './http/surfaces/host-prefixes.js';
import type { SurfaceRegistry } from './http/surfaces/surface-registry.js';
import { openTls } from './http/tls/open-tls.js';
import { IdentityKeys, PUBLISH_AHEAD_MS, PUBLISH_OVERLAP_MS } from './identity/identity-keys.js';
import { redactNames } from './log/redact.js';
import { ModuleRegistry } from './modules/module-registry.js';
import { isAllowedReference } from './modules/releases/inspect-release.js';
import { RecentCalls } from './observability/calls/recent-calls.js';
import { StoredCalls } from './observability/calls/stored-calls.js';
import { isRecorded, keepCall, type RequestObserver } from './observability/completed-request.js';
import { createCandidateMetric, type ObservedHost } from './observability/metrics/host-metrics.js';
import { Metrics } from './observability/metrics/metrics.js';
import {
  createEventLoopMetric,
  createStreamsMetric,
} from './observability/metrics/process-metrics.js';
import { openTracing } from './observability/tracing/open-tracing.js';
import { FleetLeadership } from './operations/fleet/fleet-leadership.js';
import { readHostId } from './operations/fleet/host-id.js';
import { ActorRate } from './operations/rate-limit.js';
import type { HostReleases } from './operations/releases/host-releases.js';
import { ReleaseFollower } from './operations/releases/release-follower.js';
import type { PluginRegistry } from './plugin-loader/plugin-registry.js';
import { PluginWatcher } from './plugin-loader/plugin-watcher.js';
import { CandidateReports } from './provider/candidate/candidate-reports.js';
import { EventLoopDelay } from './provider/event-loop-delay.js';
import { LoadShedder } from './provider/load-shedding.js';
import { OpenStreams } from './provider/open-streams.js';
import { RedisRates } from './provider/redis-rates.js';
import { parseStoreKeys, STORE_KEY_VARIABLE } from './store/encryption-keys.js';
import { createStore } from './store/open-store.js';
import { readVersion } from './version.js';

const HOUR_MS = 3_600_000;

/** An opened subsystem with its teardown. */
export interface Part {
  close(): void | Promise<void>;
}

type Access = Awaited<ReturnType<typeof openAccess>>;
type Storage = Awaited<ReturnType<typeof openStorage>>;
type Records = Awaited<ReturnType<typeof openRecords>>;
type Modules = Awaited<ReturnType<typeof openModules>>;

export interface Parts {
  readonly plugins: PluginRegistry;
  readonly access: Access;
  readonly storage: Storage;
  readonly records: Records;
  readonly modules: Modules;
  readonly observability: Observability;
  readonly surfaces: SurfaceRegistry;
}

/** Opens authentication and the listener's TLS. */
export async function openAccess(
  config: HostConfig,
  log: Log,
  hostProcess: HostProcess,
  plugins: PluginRegistry,
) {
  const access = await createAuthenticators(config, log, plugins);
  const { chain, issuers, hasDevTokens, roles, tokens, close } = access;
  const tls = await openTls(config, roles, log);
  const actorRate = ActorRate.create(config.actorRate, config.actorBurst, hostProcess.rates);
  const credentialHeaders = listCredentialHeaders(chain);
  redactNames(credentialHeaders);
  const { tokenHeader, tokenBasic, publicUrl, cors } = config;
  const authentication: Authentication = {
    chain,
    roles,
    credentialHeaders,
    challenges: listChallenges(chain, tokenBasic),
    tokenHeader,
    takesBasic: tokenBasic,
    pages: { publicUrl, origins: new Set(cors?.credentials ? cors.origins : []) },
    certificates: tls.certificates,
    actorRate,
    authFailures: config.authFailures === 0 ? null : hostProcess.authFailures,
  };
  return {
    authentication,
    issuers,
    hasDevTokens,
    tokens,
    tlsPair: tls.pair,
    close: async () => {
      await tls.close();
      await close();
    },
  };
}

/** Opens the store, and the keys that sign identities. */
export async function openStorage(config: HostConfig, log: Log) {
  const keys = parseStoreKeys(process.env[STORE_KEY_VARIABLE]);
  const store = createStore({ url: config.store, stateDir: config.state, keys, log });
  const identity = await IdentityKeys.open({
    stateDir: config.state,
    log,
    rotation: {
      periodMs: config.identityRotationHours * HOUR_MS,
      aheadMs: PUBLISH_AHEAD_MS,
      overlapMs: PUBLISH_OVERLAP_MS,
    },
  });
  return {
    store,
    identity,
    close: async () => {
      await identity.close();
      await store.close();
    },
  };
}

/** Opens the destinations of traces and calls. */
export async function openRecords(config: HostConfig, log: Log, { store }: Storage) {
  const { keepCalls: maxCalls, keepCallsHours: maxHours } = config;
  const tracing = await openTracing(process.env, readVersion(), log);
  // The heartbeat reports a folder that is not writable.
  const host = config.fleet === null ? null : await readHostId(config.state).catch(() => null);
  const archive = maxCalls === 0 ? null : new StoredCalls({ store, maxCalls, maxHours, log });
  return {
    tracing,
    archive,
    host,
    close: async () => {
      await Promise.all([tracing?.close(), archive?.close()]);
    },
  };
}

/**
 * Keeps the modules folder equal to the release that the host should serve; returns `null` for a
 * local folder.
 */
export async function openReleases(
  config: HostConfig,
  log: Log,
  { leadership }: HostProcess,
  { store }: Storage,
): Promise<ReleaseFollower | null> {
  if (!followsReleases(config)) return null;
  const { state: stateDir } = config;
  const follower = new ReleaseFollower({
    ...{ store, stateDir, leadership, log },
    fleet: config.fleet ?? '',
    host: await readHostId(stateDir),
    version: readVersion(),
  });
  await follower.prepare();
  return follower;
}

/** Creates the context in which the host reads descriptors, of a folder as well as of releases. */
function createDescriptorContext(
  config: HostConfig,
  plugins: PluginRegistry,
  { authentication }: Pick<Access, 'authentication'>,
) {
  return {
    plugins,
    environment: process.env,
    credentialHeaders: authentication.credentialHeaders,
    reservedPrefixes: new HostPrefixes(plugins),
    canShareRates: config.redis !== null,
  };
}

/** The references that releases may use on this host. */
function createReferenceBounds({ releaseReferences }: HostConfig) {
  const patterns = releaseReferences ?? [];
  const allowsReference = (reference: string) => isAllowedReference(reference, patterns);
  return { patterns, allowsReference };
}

/** Describes this host for the handlers of releases. */
export function describeHostReleases(
  config: HostConfig,
  plugins: PluginRegistry,
  access: Pick<Access, 'authentication'>,
): HostReleases {
  const { patterns, allowsReference } = createReferenceBounds(config);
  return {
    fleet: config.fleet ?? '',
    hasFleet: config.fleet !== null,
    stateDir: config.state,
    version: readVersion(),
    patterns,
    context: { ...createDescriptorContext(config, plugins, access), allowsReference },
  };
}

/** Opens the modules of the modules folder with their plugins. */
export async function openModules(
  config: HostConfig,
  log: Log,
  hostProcess: HostProcess,
  plugins: PluginRegistry,
  { authentication, tokens }: Access,
  { store, identity }: Storage,
) {
  const isFollowing = followsReleases(config);
  const loopDelay = new EventLoopDelay();
  const openStreams = new OpenStreams();
  const { redis: url, fleet } = config;
  const shared =
    url === null ? null : await RedisRates.open({ url, fleet, local: hostProcess.rates, log });
  const candidateReports = new CandidateReports();
  const fleetLeadership = fleet === null ? null : new FleetLeadership(hostProcess.leadership);
  const registry = new ModuleRegistry({
    store,
    modulesDir: readModulesFolder(config),
    ...(isFollowing && {
      linkFolder: releasesFolder(config.state),
      allowsReference: createReferenceBounds(config).allowsReference,
    }),
    stateDir: config.state,
    statusSink: hostProcess.statusSink,
    lastGood: hostProcess.lastGood,
    leadership: hostProcess.leadership,
    ...(fleetLeadership && { fleetLeadership }),
    ...(hostProcess.sharedProbation && { sharedProbation: hostProcess.sharedProbation }),
    ...(hostProcess.holders && { holders: hostProcess.holders }),
    ...createDescriptorContext(config, plugins, { authentication }),
    publicOrigin: config.publicUrl,
    loadShedder: new LoadShedder(config, loopDelay),
    openStreams,
    rates: shared ?? hostProcess.rates,
    candidateReports,
    drainMs: config.drainMs,
    identity,
    callerTokens: tokens,
    log,
  });
  await registry.start();
  // A module may have been rejected because of an issuer that the file lacked.
  tokens.onIssuersChange(() => registry.rescan());
  const watcher = new PluginWatcher(plugins, log, () => registry.rescan());
  watcher.start();
  return {
    registry,
    fleetLeadership,
    loopDelay,
    openStreams,
    candidateReports,
    // Reloads plugins first, so that a module can use a new one.
    reload: () => void watcher.scan(true).then(() => registry.rescan()),
    close: async () => {
      watcher.close();
      await registry.close();
      shared?.close();
      loopDelay.close();
    },
  };
}

export function createHostObservability(
  { authentication }: Access,
  { archive, host: id }: Records,
  { registry, loopDelay, openStreams, candidateReports }: Modules,
): Observability {
  const host = {
    list: () => registry.list(),
    get reloads() {
      return registry.reloads;
    },
    rejectedActors: () => authentication.actorRate?.rejected ?? 0,
  };
  const observability = createObservability(host, archive, id);
  observability.metrics.add([
    createEventLoopMetric(loopDelay),
    createStreamsMetric(openStreams),
    createCandidateMetric(candidateReports),
  ]);
  return observability;
}

/** Metrics, call records and traces of the host. */
interface Observability {
  readonly metrics: Metrics;
  readonly calls: RecentCalls;
  readonly observe: RequestObserver;
}

/**
 * @param stored `null` if calls are not stored
 * @param id the id of the host in its fleet; `null` without one
 */
export function createObservability(
  host: ObservedHost,
  stored: StoredCalls | null = null,
  id: string | null = null,
): Observability {
  const metrics = new Metrics(host);
  const calls = new RecentCalls();
  return {
    metrics,
    calls,
    observe: (completed) => {
      metrics.requests.count(completed);
      if (isRecorded(completed)) {
        const call = keepCall(completed);
        call.host = id;
        calls.add(call, completed.facts.bodies);
        stored?.add(call);
      }
      completed.facts.span?.end(completed.status, completed.rejection);
    },
  };
}
