import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Roles } from './auth/roles.js';
import {
  createHostObservability,
  describeHostReleases,
  openAccess,
  openModules,
  openRecords,
  openReleases,
  openStorage,
  type Part,
  type Parts,
} from './compose-parts.js';
import { readModulesFolder } from './config/modules-folder.js';
import { ConfigError, type HostConfig } from './config/read-config.js';
import { settingFlag } from './config/settings.js';
import { listEnabledSurfaces } from './config/surface-list.js';
import type { Log } from './contract/index.js';
import { createSoleProcess, type HostProcess, type HostView } from './host-process.js';
import { createApp } from './http/app.js';
import { Cors } from './http/cors.js';
import { completeRejected } from './http/rejection.js';
import { Clients, findPeer } from './http/request/client.js';
import { createRequestLog } from './http/request-log.js';
import { createInProcessServer } from './http/server/in-process-server.js';
import type { RejectionObserver } from './http/server/parser-errors.js';
import { createServer, MAX_HEAD_BYTES } from './http/server/server.js';
import { readSnapshot } from './http/surfaces/read-snapshot.js';
import { SurfaceRegistry } from './http/surfaces/surface-registry.js';
import { createViolationLog } from './http/violation-log.js';
import { type DependencyContainer, rootContainer } from './injection.js';
import { isLoopbackAddress, isLoopbackOrigin } from './lib/loopback.js';
import { ModuleRegistry } from './modules/module-registry.js';
import { CallHistory } from './observability/calls/call-history.js';
import { createFleetMetrics, createReleaseMetrics } from './observability/metrics/fleet-metrics.js';
import {
  createCacheMetric,
  createListenerMetrics,
  createMemoryMetrics,
  createTokenLookupMetric,
} from './observability/metrics/process-metrics.js';
import { DocumentCache } from './openapi/document-cache.js';
import { MAY_APPROVE_OWN } from './operations/approvals/decide-approval.js';
import { RESPONSE_CACHE, ResponseCache } from './operations/cache/response-cache.js';
import { StorePurges } from './operations/cache/store-purges.js';
import { ConsoleBridge } from './operations/console/console-bridge.js';
import { registerBridgeOperations } from './operations/console/register-bridge-operations.js';
import { SHIPPED_UI } from './operations/console/shipped-ui.js';
import { TokenOwners } from './operations/explain/token-owners.js';
import { FLEET, NO_FLEET } from './operations/fleet/fleet.js';
import { FleetMember } from './operations/fleet/fleet-member.js';
import { Forward } from './operations/forward/forward.js';
import {
  AUTHENTICATORS,
  CREDENTIAL_HEADERS,
  LOG,
  MODULES_FOLDER,
  STORE,
} from './operations/injection-tokens.js';
import { HOST_RELEASES } from './operations/releases/host-releases.js';
import { CALL_RECORDS } from './operations/status/call-record.js';
import { PLUGINS } from './operations/status/list-plugins.js';
import {
  createModuleOverview,
  MODULE_OVERVIEW,
  type ModuleOverview,
} from './operations/status/module-overview.js';
import { CANDIDATES } from './operations/status/read-candidate.js';
import { METRICS } from './operations/status/read-metrics.js';
import { SURFACES } from './operations/status/surface-status.js';
import { openPlugins } from './plugin-loader/open-plugins.js';
import { MemoryBudget } from './provider/memory-budget.js';
import { readVersion } from './version.js';

/** The paths of the open surfaces, such as `/console`. */
export type OpenSurfaces = readonly { readonly name: string; readonly prefix: string }[];

/** A host that has read its modules and is ready to listen. */
export interface ComposedHost {
  /** @throws the error of `server.listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL. */
  listen(port?: number): Promise<{ readonly url: string }>;
  readonly surfaces: OpenSurfaces;
  /** Reads every file again, changed or not. */
  reload(): void;
  /** Accepts no new connections; resolves when every request in flight has ended, or after `drainMs`. */
  drain(): Promise<void>;
  /**
   * Drains a process that is replaced: idle connections stay open meanwhile, because a request
   * may be in transit on them.
   */
  handOver(): Promise<void>;
  /** Closes everything that is open, in reverse order; never throws. */
  close(): Promise<void>;
}

type Listener = ReturnType<typeof createListener>;

/**
 * The composition root: the only place that uses the container.
 * @param hostProcess the process-specific parts of a host
 * @throws ConfigError for settings that contradict each other, and for files and folders that
 * cannot be read.
 */
export async function composeHost(
  config: HostConfig,
  log: Log,
  hostProcess: HostProcess = createSoleProcess(config, log),
): Promise<ComposedHost> {
  for (const conflict of findConflicts(config)) throw conflict;
  const opened: Part[] = [];
  const keep = <T extends Part>(part: T): T => {
    opened.unshift(part);
    return part;
  };
  const close = async () => {
    for (const part of opened.splice(0)) await part.close();
  };
  try {
    const plugins = await openPlugins(config, settingFlag('plugins'), log);
    const access = keep(await openAccess(config, log, hostProcess, plugins));
    const storage = keep(await openStorage(config, log));
    const records = keep(await openRecords(config, log, storage));
    const releases = await openReleases(config, log, hostProcess, storage);
    if (releases !== null) keep(releases);
    const modules = keep(await openModules(config, log, hostProcess, plugins, access, storage));
    const observability = createHostObservability(access, records, modules);
    const surfaces = new SurfaceRegistry(plugins);
    const parts = { plugins, access, storage, records, modules, observability, surfaces };
    const view = connectView(hostProcess, parts);
    const fleet = openFleet(config, log, hostProcess, parts, view.overview);
    if (fleet !== null) keep(fleet);
    if (releases !== null) {
      observability.metrics.add(createReleaseMetrics(releases));
      releases.start(view.overview);
    }
    const responses = createResponseCache(config, hostProcess, storage);
    const container = createContainer(config, log, parts, view, fleet, responses);
    const listener = keep(createListener(config, log, hostProcess, parts, container));
    keep(surfaces);
    await openSurfaces(config, log, parts, container.resolve(MODULE_OVERVIEW), listener);
    const { handOver } = listener;
    const listen: ComposedHost['listen'] = async (port) => {
      const address = await listener.listen(port);
      // Connects at startup, so that operators see an unusable database server.
      if (config.store !== null) void storage.store.start();
      fleet?.listens(describeAddress(config, address.url));
      return address;
    };
    const drain = async () => {
      fleet?.drains();
      await listener.drain();
      await releases?.close();
      await fleet?.leave();
    };
    const { reload } = modules;
    return { listen, surfaces: surfaces.listOpen(), reload, drain, handOver, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Finds settings that contradict each other. Node would report the first with a stack trace. */
export function* findConflicts(config: HostConfig): Generator<ConfigError> {
  if (config.headTimeoutMs > config.requestTimeoutMs) {
    yield new ConfigError('--head-timeout-ms must be at most --request-timeout-ms');
  }
  if (config.fleet !== null && config.store === null) {
    yield new ConfigError(
      '--fleet requires --store postgres://…, which the hosts of the fleet share',
    );
  }
  if (config.actorBudget !== null && config.actorBudget > config.memoryBudget) {
    yield new ConfigError('--actor-budget must be at most --memory-budget');
  }
}

function connectView(hostProcess: HostProcess, { modules, observability }: Parts): HostView {
  const { metrics, calls } = observability;
  const { registry, candidateReports: candidates } = modules;
  return hostProcess.connect({
    overview: createModuleOverview(registry),
    calls,
    candidates,
    metrics,
  });
}

/** Returns `null` for a host without a cache. A database server forwards purges to other hosts. */
function createResponseCache(
  { cacheBytes, store: url }: HostConfig,
  { purges }: HostProcess,
  { store }: Parts['storage'],
): ResponseCache | null {
  if (cacheBytes === 0) return null;
  return new ResponseCache(cacheBytes, url === null ? purges : new StorePurges(store, purges));
}

/** Returns `null` for a host without a fleet. */
function openFleet(
  { fleet, state: stateDir }: HostConfig,
  log: Log,
  { leadership, unreadyReason }: HostProcess,
  { storage, modules: { registry, fleetLeadership }, observability }: Parts,
  overview: ModuleOverview,
): FleetMember | null {
  if (fleet === null || fleetLeadership === null) return null;
  const member = new FleetMember({
    ...{ fleet, stateDir, overview, leadership, unreadyReason, log },
    version: readVersion(),
    hosts: storage.store.fleetHosts,
    onChange: (listener) => registry.onChange(listener),
    onList: (hosts, id) => fleetLeadership.choose(hosts, id),
  });
  observability.metrics.add(createFleetMetrics(member));
  return member;
}

/**
 * Replaces the address of a host that listens on all addresses, which other machines cannot use.
 */
function describeAddress({ host }: HostConfig, url: string): string {
  if (host !== '0.0.0.0' && host !== '::') return url;
  const reachable = new URL(url);
  reachable.hostname = hostname();
  return reachable.origin;
}

/** Creates the container with the dependencies of request handlers. */
function createContainer(
  config: HostConfig,
  log: Log,
  parts: Parts,
  view: HostView,
  fleet: FleetMember | null,
  responses: ResponseCache | null,
) {
  const { registry } = parts.modules;
  const { metrics, calls } = parts.observability;
  const { archive } = parts.records;
  const { chain, roles, credentialHeaders } = parts.access.authentication;
  metrics.add([createCacheMetric(responses)]);
  const container = rootContainer.createChildContainer();
  // The container does not accept null as a value.
  container.register(RESPONSE_CACHE, { useFactory: () => responses });
  container.register(LOG, { useValue: log });
  container.register(MODULES_FOLDER, { useValue: readModulesFolder(config) });
  container.register(AUTHENTICATORS, { useValue: chain });
  container.register(CREDENTIAL_HEADERS, { useValue: credentialHeaders });
  container.register(STORE, { useValue: parts.storage.store });
  container.register(MAY_APPROVE_OWN, { useValue: config.approvals?.self === true });
  container.register(PLUGINS, { useValue: parts.plugins });
  container.register(SURFACES, { useValue: parts.surfaces });
  container.register(SHIPPED_UI, { useValue: parts.surfaces });
  container.register(MODULE_OVERVIEW, { useValue: view.overview });
  container.register(FLEET, { useValue: fleet ?? NO_FLEET });
  container.register(HOST_RELEASES, {
    useValue: describeHostReleases(config, parts.plugins, parts.access),
  });
  container.register(METRICS, { useValue: view.metrics });
  container.register(CANDIDATES, { useValue: view.candidates });
  container.register(CALL_RECORDS, {
    useValue: archive === null ? view.calls : new CallHistory(view.calls, archive, calls),
  });
  container.registerInstance(ModuleRegistry, registry);
  container.registerInstance(Roles, roles);
  container.registerInstance(DocumentCache, createDocuments(config, parts));
  container.registerSingleton(TokenOwners);
  metrics.add([createTokenLookupMetric(container.resolve(TokenOwners))]);
  registerBridgeOperations(container);
  return container;
}

/** Creates the OpenAPI documents of the modules. */
function createDocuments({ publicUrl }: HostConfig, { access, modules }: Parts): DocumentCache {
  const { challenges, credentialHeaders, actorRate } = access.authentication;
  const limitsActors = actorRate !== null;
  return new DocumentCache(modules.registry, {
    publicUrl,
    challenges,
    credentialHeaders,
    limitsActors,
  });
}

/** Creates the HTTP server of the application. */
function createListener(
  config: HostConfig,
  log: Log,
  hostProcess: HostProcess,
  { access, storage, records, modules, observability, surfaces }: Parts,
  container: DependencyContainer,
) {
  const { registry, openStreams } = modules;
  const endStreams = () => openStreams.endAll('shutdown');
  const lifecycle = { isDraining: false, isClosing: false };
  const memory = new MemoryBudget(config);
  observability.metrics.add(createMemoryMetrics(memory));
  const observers = {
    onDecided: observability.observe,
    onClosed: createRequestLog({
      log: hostProcess.requestLog,
      successSample: config.logSuccessSample,
      logViolations: createViolationLog(log),
    }),
  };
  const clients = new Clients(config);
  const app = createApp({
    log,
    lifecycle,
    forward: container.resolve(Forward),
    bridge: container.resolve(ConsoleBridge),
    container,
    authentication: access.authentication,
    cors: config.cors === null ? null : new Cors(config.cors, config.tokenHeader),
    bodyTimeoutMs: config.bodyTimeoutMs,
    clients,
    memory,
    mounts: registry,
    sendTimeoutMs: config.sendTimeoutMs,
    maxHeaders: config.maxHeaders,
    loopbackOnly: access.hasDevTokens && !config.allowDevAuthAnywhere,
    identityKeys: () => storage.identity.publish(),
    hasPublicMetrics: isLoopbackAddress(config.host) && isLoopbackOrigin(config.publicUrl),
    unreadyReason: () =>
      lifecycle.isDraining ? 'the host is draining' : hostProcess.unreadyReason(),
    observers,
    tracing: records.tracing,
    surfaces,
    issuers: access.issuers,
    publicOrigin: config.publicUrl,
  });
  const reportRejected: RejectionObserver = (problem, ids, request, socket) => {
    // Without a head, a client behind a proxy is known by its connection only.
    const address =
      (request === null ? null : clients.find(request)?.address) ??
      findPeer(socket as Partial<Socket>);
    const rejectedRequest = { request, address };
    const completed = completeRejected(
      problem,
      ids,
      rejectedRequest,
      access.authentication,
      registry,
    );
    observers.onDecided(completed);
    observers.onClosed(completed);
  };
  const server = createServer(app.callback(), config, access.tlsPair, reportRejected);
  const observed = { connections: server.counts, certificate: access.tlsPair };
  observability.metrics.add(createListenerMetrics(observed));
  return {
    inProcess: createInProcessServer(app.callback(), MAX_HEAD_BYTES, reportRejected),
    listen: (port = config.port) => server.listen(config.host, port),
    drain: async () => {
      Object.assign(lifecycle, { isDraining: true, isClosing: true });
      await pause(config.drainDelayMs);
      surfaces.endStreams();
      await server.drain(config.drainMs, endStreams);
    },
    handOver: async () => {
      lifecycle.isClosing = true;
      surfaces.endStreams();
      await server.handOver(config.drainMs, endStreams);
    },
    close: server.close,
  };
}

/** Opens the enabled surfaces; they are called once the host listens. */
function openSurfaces(
  { surfaces: configured, fleet }: HostConfig,
  log: Log,
  { plugins, access, storage, modules: { registry }, surfaces }: Parts,
  overview: ModuleOverview,
  { inProcess }: Listener,
): Promise<void> {
  return surfaces.open(listEnabledSurfaces(configured, plugins.surfaces()), {
    log,
    chain: access.authentication.chain,
    authFailures: access.authentication.authFailures,
    issuers: access.issuers,
    actorRate: access.authentication.actorRate,
    store: storage.store,
    server: inProcess,
    modules: {
      snapshot: () => readSnapshot(overview, registry, fleet),
      onChange: (listener) => registry.onChange(listener),
    },
  });
}
