import { setTimeout } from 'node:timers/promises';
import { createAuthenticators } from './auth/authenticators.js';
import { ConfigError, type HostConfig } from './config/read-config.js';
import { settingFlag } from './config/settings.js';
import type { Log } from './contract/index.js';
import { createSoleProcess, type HostProcess } from './host-process.js';
import { createApp } from './http/app.js';
import type { Authentication } from './http/authenticate-request.js';
import { Forward } from './http/request-chain.js';
import { createRequestLog } from './http/request-log.js';
import { createServer } from './http/server/server.js';
import { openTls } from './http/tls/open-tls.js';
import { IdentityKeys, PUBLISH_AHEAD_MS, PUBLISH_OVERLAP_MS } from './identity/identity-keys.js';
import { resolveHandler, rootContainer } from './injection.js';
import { isLoopbackAddress } from './lib/loopback.js';
import { readModuleDocument } from './modules/module-documents.js';
import { ModuleRegistry } from './modules/module-registry.js';
import { CallHistory } from './observability/calls/call-history.js';
import { StoredCalls } from './observability/calls/stored-calls.js';
import { describeListenerMetrics } from './observability/metrics/listener-metrics.js';
import { describeEventLoop } from './observability/metrics/module-metrics.js';
import { createObservability, type Observability } from './observability/observability.js';
import { openTracing } from './observability/tracing/open-tracing.js';
import { BRIDGE_OPERATIONS } from './operations/console/bridge-operation.js';
import { resolveBridgeOperations } from './operations/console/bridge-operations.js';
import { ConsoleBridge } from './operations/console/console-bridge.js';
import { Explain } from './operations/explain/explain.js';
import { MODULE_DOCUMENTS } from './operations/explain/explained-request.js';
import { AUTHENTICATORS, GENERATIONS, STORE } from './operations/injection-tokens.js';
import { ActorRate } from './operations/rate-limit.js';
import { CALL_RECORDS } from './operations/status/call-record.js';
import { ListCalls } from './operations/status/list-calls.js';
import { ListManifests } from './operations/status/list-manifests.js';
import { createModuleOverview, ListModules } from './operations/status/list-modules.js';
import { ListPlugins, PLUGINS } from './operations/status/list-plugins.js';
import { MODULE_OVERVIEW, MODULE_RECORDS } from './operations/status/module-list.js';
import { METRICS, ReadMetrics } from './operations/status/read-metrics.js';
import { openPlugins } from './plugin-loader/open-plugins.js';
import type { PluginRegistry } from './plugin-loader/plugin-registry.js';
import { PluginWatcher } from './plugin-loader/plugin-watcher.js';
import { EventLoopDelay } from './provider/event-loop-delay.js';
import { LoadShedder } from './provider/load-shedding.js';
import { parseStoreKeys, STORE_KEY_VARIABLE } from './store/encryption-keys.js';
import { createLazyStore } from './store/lazy-store.js';
import { parsePostgresUrl } from './store/postgres-url.js';
import type { Store } from './store/store.js';
import { readVersion } from './version.js';

const HOUR_MS = 3_600_000;

/** A host that has read its modules and is ready to listen. */
export interface ComposedHost {
  /** @throws the error of `server.listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL. */
  listen(port?: number): Promise<{ readonly url: string }>;
  /** Reads every file again, changed or not. */
  reload(): void;
  /** Accepts no new connections; resolves when every request in flight has ended, or after `drainMs`. */
  drain(): Promise<void>;
  /**
   * Like `drain`, for a process that is replaced: idle connections stay open meanwhile, because a request
   * may be in transit on them.
   */
  handOver(): Promise<void>;
  /** Closes everything that is open, in reverse order; never throws. */
  close(): Promise<void>;
}

/** An opened subsystem, and how to close it. */
interface Part {
  close(): void | Promise<void>;
}

type Access = Awaited<ReturnType<typeof openAccess>>;
type Storage = Awaited<ReturnType<typeof openStorage>>;
type Records = Awaited<ReturnType<typeof openRecords>>;
type Modules = Awaited<ReturnType<typeof openModules>>;
type Handlers = ReturnType<typeof resolveHandlers>;

interface Parts {
  readonly plugins: PluginRegistry;
  readonly access: Access;
  readonly storage: Storage;
  readonly records: Records;
  readonly modules: Modules;
  readonly observability: Observability;
}

/**
 * The composition root: the only place that sees the container.
 * @param own what differs in a host of several processes
 * @throws ConfigError for settings that contradict each other, and for files and folders that cannot be read.
 */
export async function composeHost(
  config: HostConfig,
  log: Log,
  own: HostProcess = createSoleProcess(config, log),
): Promise<ComposedHost> {
  assertTimeoutsFit(config);
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
    const access = keep(await openAccess(config, log, plugins));
    const storage = keep(await openStorage(config, log));
    const records = keep(await openRecords(config, log, storage));
    const modules = keep(await openModules(config, log, own, plugins, storage));
    const observability = createHostObservability(access, records, modules);
    const parts = { plugins, access, storage, records, modules, observability };
    const handlers = resolveHandlers(config, own, parts);
    const listener = keep(createListener(config, log, own, parts, handlers));
    const { drain, handOver } = listener;
    return { listen: listener.listen, reload: modules.reload, drain, handOver, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Node would report this with a stack trace. */
function assertTimeoutsFit({ headTimeoutMs, requestTimeoutMs }: HostConfig): void {
  if (headTimeoutMs <= requestTimeoutMs) return;
  throw new ConfigError('--head-timeout-ms must be at most --request-timeout-ms');
}

/** Authentication, and the connections that are accepted. */
async function openAccess(config: HostConfig, log: Log, plugins: PluginRegistry) {
  const { chain, hasDevTokens, close } = await createAuthenticators(config, log, plugins);
  const tls = await openTls(config, log);
  const actorRate = ActorRate.create(config.actorRate, config.actorBurst);
  const authentication: Authentication = { chain, certificates: tls.certificates, actorRate };
  return {
    authentication,
    hasDevTokens,
    tlsPair: tls.pair,
    close: async () => {
      await tls.close();
      await close();
    },
  };
}

/** The store, and the keys that sign identities. */
async function openStorage(config: HostConfig, log: Log) {
  const store = createStore(config, log);
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

/** @throws ConfigError for a malformed URL or key, although the store is opened later. */
function createStore(config: HostConfig, log: Log): Store {
  const keys = parseStoreKeys(process.env[STORE_KEY_VARIABLE]);
  if (config.store !== null) parsePostgresUrl(config.store);
  return createLazyStore(async () => {
    const { openStore } = await import('./store/open-store.js');
    return openStore({ url: config.store, stateDir: config.state, keys, log });
  });
}

/** Where traces and calls are sent. */
async function openRecords(config: HostConfig, log: Log, { store }: Storage) {
  const { keepCalls: maxCalls, keepCallsHours: maxHours } = config;
  const tracing = await openTracing(process.env, readVersion(), log);
  const archive = maxCalls === 0 ? null : new StoredCalls({ store, maxCalls, maxHours, log });
  return {
    tracing,
    archive,
    close: async () => {
      await Promise.all([tracing?.close(), archive?.close()]);
    },
  };
}

/** The modules of the modules folder, opened by their plugins. */
async function openModules(
  config: HostConfig,
  log: Log,
  own: HostProcess,
  plugins: PluginRegistry,
  { store, identity }: Storage,
) {
  const loopDelay = new EventLoopDelay();
  const registry = new ModuleRegistry({
    store,
    modulesDir: config.modules,
    stateDir: config.state,
    statusSink: own.statusSink,
    lastGood: own.lastGood,
    leadership: own.leadership,
    ...(own.sharedProbation && { sharedProbation: own.sharedProbation }),
    ...(own.holders && { holders: own.holders }),
    plugins,
    environment: process.env,
    pressure: new LoadShedder(config, loopDelay),
    identity,
    log,
  });
  await registry.start();
  const watcher = new PluginWatcher(plugins, log, () => registry.rescan());
  watcher.start();
  return {
    registry,
    loopDelay,
    // Plugins first, so that a module can use a new one.
    reload: () => void watcher.scan(true).then(() => registry.rescan()),
    close: async () => {
      watcher.close();
      await registry.close();
      loopDelay.close();
    },
  };
}

function createHostObservability(
  { authentication }: Access,
  { archive }: Records,
  { registry, loopDelay }: Modules,
): Observability {
  const host = {
    list: () => registry.list(),
    get reloads() {
      return registry.reloads;
    },
    refusedActors: () => authentication.actorRate?.rejected ?? 0,
  };
  const observability = createObservability(host, archive);
  observability.metrics.add([describeEventLoop(loopDelay)]);
  return observability;
}

/** Builds every handler of requests, through the container. */
function resolveHandlers(config: HostConfig, own: HostProcess, parts: Parts) {
  const { registry } = parts.modules;
  const { metrics, calls } = parts.observability;
  const { archive } = parts.records;
  const view = own.connect({ overview: createModuleOverview(registry), calls, metrics });
  const container = rootContainer.createChildContainer();
  container.register(GENERATIONS, { useValue: registry });
  container.register(MODULE_RECORDS, { useValue: registry });
  container.register(MODULE_OVERVIEW, { useValue: view.overview });
  container.register(PLUGINS, { useValue: parts.plugins });
  container.register(STORE, { useValue: parts.storage.store });
  container.register(AUTHENTICATORS, { useValue: parts.access.authentication.chain });
  container.register(MODULE_DOCUMENTS, {
    useValue: { read: (file) => readModuleDocument(config.modules, file) },
  });
  container.register(BRIDGE_OPERATIONS, { useValue: resolveBridgeOperations(container) });
  container.register(METRICS, { useValue: view.metrics });
  container.register(CALL_RECORDS, {
    useValue: archive === null ? view.calls : new CallHistory(view.calls, archive, calls),
  });
  return {
    forward: resolveHandler(container, Forward),
    bridge: resolveHandler(container, ConsoleBridge),
    listModules: resolveHandler(container, ListModules),
    listManifests: resolveHandler(container, ListManifests),
    listPlugins: resolveHandler(container, ListPlugins),
    explain: resolveHandler(container, Explain),
    listCalls: resolveHandler(container, ListCalls),
    readMetrics: resolveHandler(container, ReadMetrics),
  };
}

/** The HTTP server in front of the application. */
function createListener(
  config: HostConfig,
  log: Log,
  own: HostProcess,
  { access, storage, records, observability }: Parts,
  handlers: Handlers,
) {
  const lifecycle = { isDraining: false, isClosing: false };
  const app = createApp({
    log,
    lifecycle,
    ...handlers,
    authentication: access.authentication,
    bodyTimeoutMs: config.bodyTimeoutMs,
    sendTimeoutMs: config.sendTimeoutMs,
    maxHeaders: config.maxHeaders,
    loopbackOnly: access.hasDevTokens && !config.allowDevAuthAnywhere,
    identityKeys: () => storage.identity.publish(),
    hasPublicMetrics: isLoopbackAddress(config.host),
    unreadyReason: () => (lifecycle.isDraining ? 'the host is draining' : own.unreadyReason()),
    observers: {
      onDecided: observability.observe,
      onClosed: createRequestLog(own.requestLog, config.logSuccessSample),
    },
    tracing: records.tracing,
  });
  const server = createServer(app.callback(), config, access.tlsPair, (ids, status) =>
    log.info(
      { request_id: ids.requestId, correlation_id: ids.correlationId, status },
      'rejected malformed request',
    ),
  );
  const observed = { connections: server.counts, certificate: access.tlsPair };
  observability.metrics.add(describeListenerMetrics(observed));
  return {
    listen: (port = config.port) => server.listen(config.host, port),
    drain: async () => {
      Object.assign(lifecycle, { isDraining: true, isClosing: true });
      await setTimeout(config.drainDelayMs);
      await server.drain(config.drainMs);
    },
    handOver: async () => {
      lifecycle.isClosing = true;
      await server.handOver(config.drainMs);
    },
    close: server.close,
  };
}
