import type { Socket } from 'node:net';
import { ConfigError, type HostConfig } from './config/read-config.js';
import { SHARED_KNOWN_FILES } from './config/shared-known-files.js';
import type { Log } from './contract/index.js';
import { rootContainer } from './injection.js';
import { LOG } from './operations/injection-tokens.js';
import { ACCESS } from './parts/access.js';
import { CACHE } from './parts/cache.js';
import { FLEET_PART } from './parts/fleet.js';
import { HANDLERS } from './parts/handlers.js';
import { LISTENER } from './parts/listener.js';
import { MODULES } from './parts/modules.js';
import { OBSERVABILITY } from './parts/observability.js';
import { CONFIG, CONTAINER, type HostPart, type PartDefinition, PROCESSES } from './parts/part.js';
import { PLUGINS_PART } from './parts/plugins.js';
import { RECORDS } from './parts/records.js';
import { RELEASES } from './parts/releases.js';
import { STORAGE } from './parts/storage.js';
import { SURFACES_PART } from './parts/surfaces.js';
import { createSoleProcess, type Processes } from './processes.js';

/** The parts of a host, in the order in which they open; they close in the reverse order. */
const PARTS: readonly PartDefinition[] = [
  PLUGINS_PART,
  ACCESS,
  STORAGE,
  RECORDS,
  RELEASES,
  MODULES,
  OBSERVABILITY,
  FLEET_PART,
  CACHE,
  HANDLERS,
  LISTENER,
  SURFACES_PART,
];

/** The paths of the open surfaces, such as `/console`. */
export type OpenSurfaces = readonly { readonly name: string; readonly prefix: string }[];

/** A host that has read its modules and is ready to listen. */
export interface ComposedHost {
  /** @throws the error of `server.listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL. */
  listen(): Promise<string>;
  /**
   * Serves connections that another process accepts.
   * @param url where it accepts them
   * @returns takes such a connection
   */
  join(url: string): (connection: Socket) => void;
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

/**
 * The composition root: opens the parts of the host, each from those before it.
 * @param processes the processes of the host
 * @throws ConfigError for settings that contradict each other, and for files and folders that
 * cannot be read.
 */
export async function composeHost(
  config: HostConfig,
  log: Log,
  processes: Processes = createSoleProcess({ config, log }),
): Promise<ComposedHost> {
  for (const conflict of findConflicts(config)) throw conflict;
  const container = rootContainer.createChildContainer();
  container.register(CONFIG, { useValue: config });
  container.register(LOG, { useValue: log });
  container.register(PROCESSES, { useValue: processes });
  container.register(CONTAINER, { useValue: container });
  const onStarted = processes.connect(SHARED_KNOWN_FILES);
  const parts: HostPart[] = [];
  const close = async () => {
    for (const part of parts.splice(0).reverse()) await part.close?.();
  };
  try {
    for (const { token, open } of PARTS) {
      const part = await open(container);
      parts.push(part);
      container.register(token, { useValue: part });
      for (const provide of part.provides ?? []) provide(container);
    }
  } catch (error) {
    await close();
    throw error;
  }
  onStarted();
  const { registry } = container.resolve(OBSERVABILITY.token);
  for (const { metrics = [] } of parts) registry.add(metrics);
  const listener = container.resolve(LISTENER.token);
  const onListening = (url: string) => {
    for (const part of parts) part.onListening?.(url);
  };
  const onDrained = async (isReplaced: boolean) => {
    for (const part of parts) await part.onDrained?.(isReplaced);
  };
  return {
    surfaces: container.resolve(PLUGINS_PART.token).surfaces.listOpen(),
    reload: container.resolve(MODULES.token).reload,
    listen: async () => {
      const url = await listener.listen();
      onListening(url);
      return url;
    },
    join: (url) => {
      onListening(url);
      return listener.join();
    },
    drain: async () => {
      for (const part of parts) part.onDraining?.();
      await listener.drain();
      await onDrained(false);
    },
    handOver: async () => {
      await listener.handOver();
      await onDrained(true);
    },
    close,
  };
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
