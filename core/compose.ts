import { type AddressInfo, isIPv6 } from 'node:net';
import { createAuthenticators } from './auth/authenticators.js';
import { ConfigError, type HostConfig } from './config/read-config.js';
import { settingFlag } from './config/settings.js';
import type { Log } from './contract/index.js';
import { createSoleProcess, type HostProcess } from './host-process.js';
import { createApp } from './http/app.js';
import { createRequestLog } from './http/request-log.js';
import { closeGently, createServer, type HostServer } from './http/server/server.js';
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
import { createObservability } from './observability/observability.js';
import { openTracing } from './observability/tracing/open-tracing.js';
import { BRIDGE_OPERATIONS } from './operations/console/bridge-operation.js';
import { resolveBridgeOperations } from './operations/console/bridge-operations.js';
import { ConsoleBridge } from './operations/console/console-bridge.js';
import { Explain } from './operations/explain/explain.js';
import { MODULE_DOCUMENTS } from './operations/explain/explained-request.js';
import { Forward } from './operations/forward/forward.js';
import { ActorRate } from './operations/rate-limit.js';
import { CALL_RECORDS } from './operations/status/call-record.js';
import { ListCalls } from './operations/status/list-calls.js';
import { ListManifests } from './operations/status/list-manifests.js';
import { createModuleOverview, ListModules } from './operations/status/list-modules.js';
import { ListPlugins, PLUGINS } from './operations/status/list-plugins.js';
import { MODULE_OVERVIEW, MODULE_RECORDS } from './operations/status/module-list.js';
import { METRICS, ReadMetrics } from './operations/status/read-metrics.js';
import { AUTHENTICATORS, GENERATIONS, STORE } from './operations/tokens.js';
import { openPlugins } from './plugin-loader/open-plugins.js';
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
  /** Reads every file again, whether it looks changed or not. */
  reload(): void;
  /** Takes no new connections and resolves when every request in flight has ended, or `drainMs` is over. */
  drain(): Promise<void>;
  /**
   * As `drain`, for a process whose place others have taken: callers are to notice nothing, so a connection
   * that is idle stays open for as long, since a request may be on its way on it.
   */
  handOver(): Promise<void>;
  /** Closes modules, watchers and what is left of connections; never throws. */
  close(): Promise<void>;
}

/**
 * The composition root: the only place that sees the container.
 * @param own what differs in a host of several processes
 * @throws ConfigError for a modules directory, tokens file or plugin folder that cannot be read.
 */
export async function composeHost(
  config: HostConfig,
  log: Log,
  own: HostProcess = createSoleProcess(config, log),
): Promise<ComposedHost> {
  assertTimeoutsFit(config);
  const plugins = await openPlugins(config, settingFlag('plugins'), log);
  const authentication = await createAuthenticators(config, log, plugins);
  const tls = await openTls(config, log);
  const actorRate = ActorRate.create(config.actorRate, config.actorBurst);
  const tracing = await openTracing(process.env, readVersion(), log);
  const loopDelay = new EventLoopDelay();
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
  const host = new ModuleRegistry({
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
  await host.start();
  const pluginWatcher = new PluginWatcher(plugins, log, () => host.rescan());
  pluginWatcher.start();

  const archive =
    config.keepCalls === 0
      ? null
      : new StoredCalls({
          store,
          maxCalls: config.keepCalls,
          maxHours: config.keepCallsHours,
          log,
        });
  const observability = createObservability(
    {
      list: () => host.list(),
      get reloads() {
        return host.reloads;
      },
      refusedActors: () => actorRate?.refused ?? 0,
    },
    tracing,
    archive,
  );
  const { metrics, calls } = observability;
  const view = own.connect({ overview: createModuleOverview(host), calls, metrics });
  const container = rootContainer.createChildContainer();
  container.register(GENERATIONS, { useValue: host });
  container.register(MODULE_RECORDS, { useValue: host });
  container.register(MODULE_OVERVIEW, { useValue: view.overview });
  container.register(PLUGINS, { useValue: plugins });
  container.register(STORE, { useValue: store });
  container.register(AUTHENTICATORS, { useValue: authentication.chain });
  container.register(MODULE_DOCUMENTS, {
    useValue: { read: (file) => readModuleDocument(config.modules, file) },
  });
  container.register(BRIDGE_OPERATIONS, { useValue: resolveBridgeOperations(container) });
  container.register(METRICS, { useValue: view.metrics });
  container.register(CALL_RECORDS, {
    useValue: archive === null ? view.calls : new CallHistory(view.calls, archive, calls),
  });
  let isDraining = false;
  let isHandingOver = false;
  const app = createApp({
    log,
    authentication: { chain: authentication.chain, certificates: tls.certificates, actorRate },
    bodyTimeoutMs: config.bodyTimeoutMs,
    answerTimeoutMs: config.answerTimeoutMs,
    maxHeaders: config.maxHeaders,
    loopbackOnly: authentication.hasDevTokens && !config.allowDevAuthAnywhere,
    forward: resolveHandler(container, Forward),
    bridge: resolveHandler(container, ConsoleBridge),
    moduleStatus: resolveHandler(container, ListModules),
    listManifests: resolveHandler(container, ListManifests),
    listPlugins: resolveHandler(container, ListPlugins),
    explain: resolveHandler(container, Explain),
    listCalls: resolveHandler(container, ListCalls),
    readMetrics: resolveHandler(container, ReadMetrics),
    identityKeys: () => identity.publish(),
    hasPublicMetrics: isLoopbackAddress(config.host),
    unreadyReason: () => (isDraining ? 'the host is draining' : own.unreadyReason()),
    isClosing: () => isDraining || isHandingOver,
    observers: {
      onDecided: observability.observe,
      onClosed: createRequestLog(own.requestLog, config.logSuccessSample),
    },
    tracing,
  });
  const server = createServer(app.callback(), config, tls.pair, (ids, status) =>
    log.info(
      { request_id: ids.requestId, correlation_id: ids.correlationId, status },
      'what is no request was refused',
    ),
  );
  const listener = { connections: server.counts, certificate: tls.pair };
  observability.metrics.add([...describeListenerMetrics(listener), describeEventLoop(loopDelay)]);
  return {
    // First, so that what lacked a plugin finds the one that is there now.
    reload: () => void pluginWatcher.scan(true).then(() => host.rescan()),
    listen: (port = config.port) => listen(server, config, port),
    drain: async () => {
      isDraining = true;
      await delay(config.drainDelayMs);
      await closeServer(server, config.drainMs);
    },
    handOver: async () => {
      isHandingOver = true;
      await closeGently(server, config.drainMs);
    },
    close: async () => {
      server.destroyConnections();
      server.server.close();
      pluginWatcher.close();
      await host.close();
      await observability.close();
      await store.close();
      loopDelay.close();
      await identity.close();
      await authentication.close();
      await tls.close();
    },
  };
}

/** @throws ConfigError for a URL or a key that is none, though the store is opened later. */
function createStore(config: HostConfig, log: Log): Store {
  const keys = parseStoreKeys(process.env[STORE_KEY_VARIABLE]);
  if (config.store !== null) parsePostgresUrl(config.store);
  return createLazyStore(async () => {
    const { openStore } = await import('./store/open-store.js');
    return openStore({ url: config.store, stateDir: config.state, keys, log });
  });
}

/** Node would say so in a stack. */
function assertTimeoutsFit({ headTimeoutMs, requestTimeoutMs }: HostConfig): void {
  if (headTimeoutMs <= requestTimeoutMs) return;
  throw new ConfigError('--head-timeout-ms must be at most --request-timeout-ms');
}

function listen(
  { server }: HostServer,
  { host, tlsCert }: HostConfig,
  port: number,
): Promise<{ url: string }> {
  const scheme = tlsCert === null ? 'http' : 'https';
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const { address, port: chosen } = server.address() as AddressInfo;
      resolve({ url: `${scheme}://${isIPv6(address) ? `[${address}]` : address}:${chosen}` });
    });
  });
}

function closeServer({ server, destroyConnections }: HostServer, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(destroyConnections, drainMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
