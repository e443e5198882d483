import 'reflect-metadata';
import { type AddressInfo, isIPv6 } from 'node:net';
import { container as rootContainer } from 'tsyringe';
import { createAuthenticators } from './auth/authenticators.js';
import { isLoopbackAddress } from './auth/loopback.js';
import { readVersion } from './cli/read-version.js';
import { settingFlag } from './config/settings.js';
import { ConfigError, type HostConfig } from './config.js';
import type { Log } from './contract/index.js';
import { Host } from './host/host.js';
import { HostPressure } from './host/host-pressure.js';
import { LoopDelay } from './host/loop-delay.js';
import { readModuleDocument } from './host/module-documents.js';
import { openPlugins } from './host/open-plugins.js';
import { PluginWatcher } from './host/plugin-watcher.js';
import { createApp } from './http/app.js';
import { createRequestLog } from './http/request-log.js';
import { createServer, type HostServer } from './http/server.js';
import { openTls } from './http/tls/open-tls.js';
import { IdentityKeys, PUBLISH_AHEAD_MS, PUBLISH_OVERLAP_MS } from './identity/identity-keys.js';
import { CallArchive } from './observability/call-archive.js';
import { describeListenerMetrics } from './observability/listener-metrics.js';
import { createObservability } from './observability/observability.js';
import { openTracing } from './observability/open-tracing.js';
import { resolveBridgeOperations } from './operations/console/bridge-operations.js';
import { ConsoleBridge } from './operations/console-bridge.js';
import { Explain } from './operations/explain.js';
import { Forward } from './operations/forward.js';
import { ListCalls } from './operations/list-calls.js';
import { ListManifests } from './operations/list-manifests.js';
import { ListPlugins } from './operations/list-plugins.js';
import { ModuleStatus } from './operations/module-status.js';
import { ActorRate } from './operations/rate-limit.js';
import { ReadMetrics } from './operations/read-metrics.js';
import { resolveOperation } from './resolve-operation.js';
import { createLazyStore } from './store/lazy-store.js';
import { openStore } from './store/open-store.js';
import { parsePostgresUrl } from './store/postgres-url.js';
import type { Store } from './store/store.js';
import { parseStoreKeys, STORE_KEY_VARIABLE } from './store/store-keys.js';
import {
  AUTHENTICATORS,
  BRIDGE_OPERATIONS,
  CALL_RECORDS,
  GENERATIONS,
  METRICS,
  MODULE_DOCUMENTS,
  MODULE_RECORDS,
  PLUGINS,
  STORE,
} from './tokens.js';

const HOUR_MS = 3_600_000;

/** A host that has read its modules and is ready to listen. */
export interface ComposedHost {
  /** @throws the error of `server.listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL. */
  listen(): Promise<{ readonly url: string }>;
  /** Reads every file again, whether it looks changed or not. */
  reload(): void;
  /** Takes no new connections and resolves when every request in flight has ended, or `drainMs` is over. */
  drain(): Promise<void>;
  /** Closes modules, watchers and what is left of connections; never throws. */
  close(): Promise<void>;
}

/**
 * The composition root: the only place that sees the container.
 * @throws ConfigError for a modules directory, tokens file or plugin folder that cannot be read.
 */
export async function composeHost(config: HostConfig, log: Log): Promise<ComposedHost> {
  refuseUnfitTimeouts(config);
  const plugins = await openPlugins(config, settingFlag('plugins'), log);
  const authentication = await createAuthenticators(config, log, plugins);
  const tls = await openTls(config, log);
  const actorRate = ActorRate.create(config.actorRate, config.actorBurst);
  const tracing = await openTracing(process.env, readVersion(), log);
  const loopDelay = new LoopDelay();
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
  const host = new Host({
    store,
    modulesDir: config.modules,
    stateDir: config.state,
    hasStatusFiles: config.statusFiles === 'on',
    plugins,
    environment: process.env,
    pressure: new HostPressure(config, loopDelay),
    identity,
    log,
  });
  await host.start();
  const pluginWatcher = new PluginWatcher(plugins, log, () => host.rescan());
  pluginWatcher.start();

  const archive =
    config.keepCalls === 0
      ? null
      : new CallArchive({
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
  const container = rootContainer.createChildContainer();
  container.register(GENERATIONS, { useValue: host });
  container.register(MODULE_RECORDS, { useValue: host });
  container.register(PLUGINS, { useValue: plugins });
  container.register(STORE, { useValue: store });
  container.register(AUTHENTICATORS, { useValue: authentication.chain });
  container.register(MODULE_DOCUMENTS, {
    useValue: { read: (file) => readModuleDocument(config.modules, file) },
  });
  container.register(BRIDGE_OPERATIONS, { useValue: resolveBridgeOperations(container) });
  container.register(METRICS, { useValue: observability.metrics });
  container.register(CALL_RECORDS, { useValue: observability.history });
  let isDraining = false;
  const app = createApp({
    log,
    authentication: { chain: authentication.chain, certificates: tls.certificates, actorRate },
    bodyTimeoutMs: config.bodyTimeoutMs,
    maxHeaders: config.maxHeaders,
    loopbackOnly: authentication.hasDevTokens && !config.allowDevAuthAnywhere,
    forward: resolveOperation(container, Forward),
    bridge: resolveOperation(container, ConsoleBridge),
    moduleStatus: resolveOperation(container, ModuleStatus),
    listManifests: resolveOperation(container, ListManifests),
    listPlugins: resolveOperation(container, ListPlugins),
    explain: resolveOperation(container, Explain),
    listCalls: resolveOperation(container, ListCalls),
    readMetrics: resolveOperation(container, ReadMetrics),
    identityKeys: () => identity.publish(),
    hasPublicMetrics: isLoopbackAddress(config.host),
    unreadyReason: () => (isDraining ? 'the host is draining' : null),
    isDraining: () => isDraining,
    observers: {
      onDecided: observability.observe,
      onClosed: createRequestLog(log, config.logSuccessSample),
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
  observability.metrics.add(describeListenerMetrics(listener));
  return {
    // First, so that what lacked a plugin finds the one that is there now.
    reload: () => void pluginWatcher.look(true).then(() => host.rescan()),
    listen: () => listen(server, config),
    drain: async () => {
      isDraining = true;
      await delay(config.drainDelayMs);
      await closeServer(server, config.drainMs);
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
  return createLazyStore(() => openStore({ url: config.store, stateDir: config.state, keys, log }));
}

/** Node would say so in a stack. */
function refuseUnfitTimeouts({ headTimeoutMs, requestTimeoutMs }: HostConfig): void {
  if (headTimeoutMs <= requestTimeoutMs) return;
  throw new ConfigError('--head-timeout-ms must be at most --request-timeout-ms');
}

function listen(
  { server }: HostServer,
  { host, port, tlsCert }: HostConfig,
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
