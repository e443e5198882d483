import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { isLoopbackAddress } from '../contract/loopback.js';
import { createApp } from '../http/app.js';
import { Cors } from '../http/cors.js';
import { OpenRequests } from '../http/open-requests.js';
import { completeRejected } from '../http/rejection.js';
import { Clients, findPeer } from '../http/request/client.js';
import type { RequestObservers } from '../http/request-chain.js';
import { createRequestLog } from '../http/request-log.js';
import { loadResources } from '../http/routes/host-resources.js';
import { PUBLIC_FACTS } from '../http/routes/public-routes.js';
import { createInProcessServer } from '../http/server/in-process-server.js';
import type { RejectionObserver } from '../http/server/parser-errors.js';
import { createServer, MAX_HEAD_BYTES } from '../http/server/server.js';
import { createViolationLog } from '../http/violation-log.js';
import { isLoopbackOrigin } from '../lib/loopback.js';
import {
  createListenerMetrics,
  createMemoryMetrics,
} from '../observability/metrics/process-metrics.js';
import { ConsoleBridge } from '../operations/console/console-bridge.js';
import { Forward } from '../operations/forward/forward.js';
import { LOG } from '../operations/injection-tokens.js';
import { MemoryBudget } from '../provider/memory-budget.js';
import { ACCESS } from './access.js';
import { MODULES } from './modules.js';
import { OBSERVABILITY } from './observability.js';
import { CONFIG, CONTAINER, definePart, PROCESSES } from './part.js';
import { PLUGINS_PART } from './plugins.js';
import { RECORDS } from './records.js';
import { STORAGE } from './storage.js';

/** A request that is cut off ends a little after its connection. */
const LAST_RECORDS_MS = 1000;

/** The HTTP server of the application. */
export const LISTENER = definePart(
  'listener',
  [
    CONFIG,
    LOG,
    PROCESSES,
    CONTAINER,
    PLUGINS_PART.token,
    ACCESS.token,
    STORAGE.token,
    RECORDS.token,
    MODULES.token,
    OBSERVABILITY.token,
  ],
  async (
    config,
    log,
    processes,
    container,
    { surfaces },
    { authentication, issuers, hasDevTokens, tlsPair },
    { identity },
    { tracing },
    { registry, openStreams, unreadyReason },
    { observe },
  ) => {
    const lifecycle = { isDraining: false, isClosing: false, isCuttingOff: false };
    const endStreams = () => {
      lifecycle.isCuttingOff = true;
      return openStreams.endAll('shutdown');
    };
    const openRequests = new OpenRequests();
    const memory = new MemoryBudget(config);
    const logRequest = createRequestLog({
      log: processes.requestLog,
      successSample: config.logSuccessSample,
      logViolations: createViolationLog(log),
    });
    const observers: RequestObservers = {
      onOpened: () => openRequests.begin(),
      onDecided: observe,
      onClosed: (completed) => {
        logRequest(completed);
        openRequests.end();
      },
    };
    const clients = new Clients(config);
    const { publicUrl: publicOrigin } = config;
    container.register(PUBLIC_FACTS, {
      useValue: {
        surfaces,
        issuers,
        publicOrigin,
        identityKeys: () => identity.publish(),
        unreadyReason: () => (lifecycle.isDraining ? 'the host is draining' : unreadyReason()),
      },
    });
    const app = createApp({
      log,
      lifecycle,
      forward: container.resolve(Forward),
      bridge: container.resolve(ConsoleBridge),
      container,
      resources: await loadResources(),
      authentication,
      cors: new Cors(config.cors, config.tokenHeader, surfaces),
      bodyTimeoutMs: config.bodyTimeoutMs,
      clients,
      memory,
      mounts: registry,
      sendTimeoutMs: config.sendTimeoutMs,
      maxHeaders: config.maxHeaders,
      loopbackOnly: hasDevTokens && !config.allowDevAuthAnywhere,
      hasPublicMetrics: isLoopbackAddress(config.host) && isLoopbackOrigin(config.publicUrl),
      observers,
      tracing,
      surfaces,
      publicOrigin,
    });
    const reportRejected: RejectionObserver = (problem, ids, request, socket) => {
      // Without a head, a client behind a proxy is known by its connection only.
      const address =
        (request === null ? null : clients.find(request)?.address) ??
        findPeer(socket as Partial<Socket>);
      const rejected = { request, address };
      const completed = completeRejected(problem, ids, rejected, authentication, registry);
      observe(completed);
      logRequest(completed);
    };
    const server = createServer(app.callback(), config, tlsPair, reportRejected);
    const observed = { connections: server.counts, certificate: tlsPair };
    return {
      metrics: [...createMemoryMetrics(memory), ...createListenerMetrics(observed)],
      inProcess: createInProcessServer(app.callback(), MAX_HEAD_BYTES, reportRejected),
      listen: () => server.listen(config.host, config.port),
      join: server.join,
      drain: async () => {
        Object.assign(lifecycle, { isDraining: true, isClosing: true });
        await pause(config.drainDelayMs);
        surfaces.endStreams();
        await server.drain(config.drainMs, endStreams);
        await openRequests.settle(LAST_RECORDS_MS);
      },
      handOver: async () => {
        lifecycle.isClosing = true;
        surfaces.endStreams();
        await server.handOver(config.drainMs, endStreams);
        await openRequests.settle(LAST_RECORDS_MS);
      },
      close: server.close,
    };
  },
);
