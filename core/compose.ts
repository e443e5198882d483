import { setTimeout as pause } from 'node:timers/promises';
import {
  createHostObservability,
  openAccess,
  openModules,
  openRecords,
  openStorage,
  type Part,
  type Parts,
} from './compose-parts.js';
import { ConfigError, type HostConfig } from './config/read-config.js';
import { settingFlag } from './config/settings.js';
import { listEnabledSurfaces } from './config/surface-list.js';
import type { Log } from './contract/index.js';
import { createSoleProcess, type HostProcess } from './host-process.js';
import { createApp } from './http/app.js';
import { Cors } from './http/cors.js';
import { Forward } from './http/request-chain.js';
import { createRequestLog } from './http/request-log.js';
import { createInProcessServer } from './http/server/in-process-server.js';
import type { RejectionObserver } from './http/server/parser-errors.js';
import { createServer, MAX_HEAD_BYTES } from './http/server/server.js';
import { readSnapshot } from './http/surfaces/read-snapshot.js';
import { SurfaceRegistry } from './http/surfaces/surface-registry.js';
import { createViolationLog } from './http/violation-log.js';
import { resolveHandler, rootContainer } from './injection.js';
import { isLoopbackAddress } from './lib/loopback.js';
import { readDescriptorText, readModuleDocument } from './modules/module-documents.js';
import { CallHistory } from './observability/calls/call-history.js';
import { createListenerMetrics } from './observability/metrics/listener-metrics.js';
import { createMemoryMetrics } from './observability/metrics/memory-metrics.js';
import { createTokenLookupMetric } from './observability/metrics/token-lookup-metrics.js';
import { DocumentCache } from './openapi/document-cache.js';
import { BRIDGE_OPERATIONS } from './operations/console/bridge-operation.js';
import { ConsoleBridge } from './operations/console/console-bridge.js';
import { resolveBridgeOperations } from './operations/console/resolve-bridge-operations.js';
import { SHIPPED_UI } from './operations/console/shipped-ui.js';
import { Explain } from './operations/explain/explain.js';
import { ExplainCalls } from './operations/explain/explain-calls.js';
import { MODULE_DOCUMENTS } from './operations/explain/explained-request.js';
import { TOKEN_OWNERS, TokenOwners } from './operations/explain/token-owners.js';
import { CREDENTIAL_HEADERS, GENERATIONS, STORE } from './operations/injection-tokens.js';
import { CALL_RECORDS } from './operations/status/call-record.js';
import { ListAudit } from './operations/status/list-audit.js';
import { ListCalls } from './operations/status/list-calls.js';
import { ListManifests } from './operations/status/list-manifests.js';
import { ListModules } from './operations/status/list-modules.js';
import { ListPlugins, PLUGINS } from './operations/status/list-plugins.js';
import {
  createModuleOverview,
  MODULE_OVERVIEW,
  MODULE_RECORDS,
} from './operations/status/module-overview.js';
import { DESCRIPTOR_TEXTS, ReadDescriptor } from './operations/status/read-descriptor.js';
import { METRICS, ReadMetrics } from './operations/status/read-metrics.js';
import { DOCUMENTS, ReadOpenApi } from './operations/status/read-openapi.js';
import { SURFACES } from './operations/status/surface-status.js';
import { openPlugins } from './plugin-loader/open-plugins.js';
import { MemoryBudget } from './provider/memory-budget.js';

/** Where people find the open surfaces, such as `/console`. */
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
   * Like `drain`, for a process that is replaced: idle connections stay open meanwhile, because a request
   * may be in transit on them.
   */
  handOver(): Promise<void>;
  /** Closes everything that is open, in reverse order; never throws. */
  close(): Promise<void>;
}

type Handlers = ReturnType<typeof resolveHandlers>;
type Listener = ReturnType<typeof createListener>;

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
  assertSettingsFit(config);
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
    const modules = keep(await openModules(config, log, own, plugins, access, storage));
    const observability = createHostObservability(access, records, modules);
    const surfaces = new SurfaceRegistry(plugins);
    const parts = { plugins, access, storage, records, modules, observability, surfaces };
    const handlers = resolveHandlers(config, log, own, parts);
    const listener = keep(createListener(config, log, own, parts, handlers));
    keep(surfaces);
    await openSurfaces(config, log, parts, handlers, listener);
    const { drain, handOver } = listener;
    const listen: ComposedHost['listen'] = async (port) => {
      const address = await listener.listen(port);
      // Operators see at the start that a database server cannot be used.
      if (config.store !== null) storage.store.open();
      return address;
    };
    const { reload } = modules;
    return { listen, surfaces: surfaces.listOpen(), reload, drain, handOver, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Node would report the first with a stack trace. */
function assertSettingsFit(config: HostConfig): void {
  if (config.headTimeoutMs > config.requestTimeoutMs) {
    throw new ConfigError('--head-timeout-ms must be at most --request-timeout-ms');
  }
  if (config.actorBudget !== null && config.actorBudget > config.memoryBudget) {
    throw new ConfigError('--actor-budget must be at most --memory-budget');
  }
}

/** Builds every handler of requests, through the container. */
function resolveHandlers(config: HostConfig, log: Log, own: HostProcess, parts: Parts) {
  const { registry } = parts.modules;
  const { metrics, calls } = parts.observability;
  const { archive } = parts.records;
  const view = own.connect({ overview: createModuleOverview(registry), calls, metrics });
  const container = rootContainer.createChildContainer();
  container.register(CREDENTIAL_HEADERS, {
    useValue: parts.access.authentication.credentialHeaders,
  });
  container.register(GENERATIONS, { useValue: registry });
  container.register(MODULE_RECORDS, { useValue: registry });
  container.register(MODULE_OVERVIEW, { useValue: view.overview });
  container.register(PLUGINS, { useValue: parts.plugins });
  container.register(SURFACES, { useValue: parts.surfaces });
  container.register(SHIPPED_UI, { useValue: parts.surfaces });
  container.register(STORE, { useValue: parts.storage.store });
  const tokenOwners = new TokenOwners(parts.access.authentication.chain, log);
  metrics.add([createTokenLookupMetric(tokenOwners)]);
  container.register(TOKEN_OWNERS, { useValue: tokenOwners });
  container.register(MODULE_DOCUMENTS, {
    useValue: { read: (file) => readModuleDocument(config.modules, file) },
  });
  container.register(DESCRIPTOR_TEXTS, {
    useValue: { read: (file) => readDescriptorText(config.modules, file) },
  });
  container.register(BRIDGE_OPERATIONS, { useValue: resolveBridgeOperations(container) });
  container.register(DOCUMENTS, { useValue: createDocuments(config, parts) });
  container.register(METRICS, { useValue: view.metrics });
  container.register(CALL_RECORDS, {
    useValue: archive === null ? view.calls : new CallHistory(view.calls, archive, calls),
  });
  return {
    overview: view.overview,
    forward: resolveHandler(container, Forward),
    bridge: resolveHandler(container, ConsoleBridge),
    listModules: resolveHandler(container, ListModules),
    listManifests: resolveHandler(container, ListManifests),
    listPlugins: resolveHandler(container, ListPlugins),
    explain: resolveHandler(container, Explain),
    explainCalls: resolveHandler(container, ExplainCalls),
    listCalls: resolveHandler(container, ListCalls),
    listAudit: resolveHandler(container, ListAudit),
    readDescriptor: resolveHandler(container, ReadDescriptor),
    readMetrics: resolveHandler(container, ReadMetrics),
    readOpenApi: resolveHandler(container, ReadOpenApi),
  };
}

/** The OpenAPI documents of the modules. */
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

/** The HTTP server in front of the application. */
function createListener(
  config: HostConfig,
  log: Log,
  own: HostProcess,
  { access, storage, records, observability, surfaces }: Parts,
  handlers: Handlers,
) {
  const lifecycle = { isDraining: false, isClosing: false };
  const memory = new MemoryBudget(config);
  observability.metrics.add(createMemoryMetrics(memory));
  const app = createApp({
    log,
    lifecycle,
    ...handlers,
    authentication: access.authentication,
    cors: config.cors === null ? null : new Cors(config.cors, config.tokenHeader),
    bodyTimeoutMs: config.bodyTimeoutMs,
    memory,
    sendTimeoutMs: config.sendTimeoutMs,
    maxHeaders: config.maxHeaders,
    loopbackOnly: access.hasDevTokens && !config.allowDevAuthAnywhere,
    identityKeys: () => storage.identity.publish(),
    hasPublicMetrics: isLoopbackAddress(config.host),
    unreadyReason: () => (lifecycle.isDraining ? 'the host is draining' : own.unreadyReason()),
    observers: {
      onDecided: observability.observe,
      onClosed: createRequestLog({
        log: own.requestLog,
        successSample: config.logSuccessSample,
        logViolations: createViolationLog(log),
      }),
    },
    tracing: records.tracing,
    surfaces,
    publicOrigin: config.publicUrl,
  });
  const reportRejected: RejectionObserver = (ids, status) =>
    log.info(
      { request_id: ids.requestId, correlation_id: ids.correlationId, status },
      'rejected malformed request',
    );
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
      await server.drain(config.drainMs);
    },
    handOver: async () => {
      lifecycle.isClosing = true;
      surfaces.endStreams();
      await server.handOver(config.drainMs);
    },
    close: server.close,
  };
}

/** Opens the surfaces that are on; they are called once the host listens. */
function openSurfaces(
  { surfaces: configured }: HostConfig,
  log: Log,
  { plugins, access, storage, modules: { registry }, surfaces }: Parts,
  { overview }: Handlers,
  { inProcess }: Listener,
): Promise<void> {
  return surfaces.open(listEnabledSurfaces(configured, plugins.surfaces()), {
    log,
    chain: access.authentication.chain,
    issuers: access.issuers,
    store: storage.store,
    server: inProcess,
    modules: {
      snapshot: () => readSnapshot(overview, registry),
      onChange: (listener) => registry.onChange(listener),
    },
  });
}
