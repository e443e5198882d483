import { isSameJson } from '../contract/canonical-value.js';
import type { Cancellation, ConfigField, Log, Manifest, Provider } from '../contract/index.js';
import { isLoopbackUrl } from '../contract/loopback.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { ErrorOwner } from '../isolation/error-owner.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { LazyMap } from '../lib/lazy-map.js';
import { toError } from '../lib/to-error.js';
import type { FleetLeadership, Leadership } from '../processes.js';
import type { CurrentEndpoints } from '../provider/module-endpoints.js';
import type { StoredConfig } from '../store/config-values.js';
import type { Store } from '../store/store.js';
import { StoreUnavailable } from '../store/store-unavailable.js';
import { ConfigDelivery, type Configuration, deliverConfig } from './config-delivery.js';
import {
  fieldName,
  findUnusable,
  listConfigFields,
  listSecretNames,
  readEffective,
} from './config-fields.js';

interface ModuleConfigOptions {
  readonly descriptor: Descriptor;
  readonly manifest: Manifest;
  readonly provider: Provider;
  readonly endpoints: CurrentEndpoints;
  /** Whether the adapter's providers support `configure`. */
  readonly supportsConfigure: boolean;
  /**
   * Only the leading process delivers to providers of this machine, because two deliveries could
   * overtake each other.
   */
  readonly leadership: Leadership;
  /** Only this process of a fleet delivers to the others. `null` without a fleet. */
  readonly fleetLeadership: FleetLeadership | null;
  readonly store: Store;
  /** Reads the digest of the place of delivery; the content of a followed file may change. */
  readonly readPlace: () => Promise<string>;
  readonly log: Log;
  /** The owner of errors in the provider's code; `null` for the host's own code. */
  readonly owner: ErrorOwner | null;
  /** Its abort ends the delivery. */
  readonly end: Cancellation;
}

const REREAD: BackoffBounds = { firstMs: 200, maxMs: 10_000 };

/**
 * The configuration of one live version of a module. Keeps the values that the version was opened with, and
 * delivers the effective values at the start and after each change until they are accepted. The latest
 * revision wins. Failures of the store or the provider are retried and never delay a call.
 */
export class ModuleConfig {
  readonly #options: ModuleConfigOptions;
  readonly #fields: readonly ConfigField[];
  /** The restart-only values when the version was opened; `null` until they are read. */
  #opened: ReadonlyMap<string, unknown> | null = null;
  #deliveries: ReadonlyMap<string | null, ConfigDelivery> = new Map();
  #isStale = false;
  #isReading = false;
  #failedReads = 0;
  #rereading: NodeJS.Timeout | undefined;
  /** The last written log fields, by message. */
  readonly #reported = new LazyMap<string, string>();

  constructor(options: ModuleConfigOptions) {
    this.#options = options;
    this.#fields = listConfigFields(options.manifest);
  }

  /** Starts the delivery and returns at once. Does nothing for a module without config fields. */
  start(): void {
    if (this.#fields.length === 0) return;
    const { store, end, descriptor, endpoints, leadership, fleetLeadership } = this.#options;
    // That of the fleet changes with that of the process.
    const unfollow = (fleetLeadership ?? leadership).onChange(() => this.#renewDeliveries());
    endpoints.onChange = () => {
      if (this.#updateDeliveries()) this.#refresh();
    };
    const unsubscribe = store.onConfigChange((module) => {
      if (module === null || module === descriptor.module) this.#refresh();
    });
    const stop = () => {
      unsubscribe();
      unfollow();
      endpoints.onChange = null;
      clearTimeout(this.#rereading);
      for (const delivery of this.#deliveries.values()) delivery.stop();
    };
    end.addEventListener('abort', { handleEvent: stop });
    this.#updateDeliveries();
    this.#refresh();
  }

  /** Whether a restart-only field has another value than when the running version was opened. */
  isPendingRestart(field: ConfigField, effective: unknown): boolean {
    if (!isFixedAtOpen(field) || this.#opened === null) return false;
    return !isSameJson(this.#opened.get(fieldName(field)), effective);
  }

  #renewDeliveries(): void {
    for (const delivery of this.#deliveries.values()) delivery.stop();
    this.#deliveries = new Map();
    this.#updateDeliveries();
    this.#refresh();
  }

  /**
   * One per endpoint, because each endpoint is a separate process. An endpoint that stays keeps its
   * delivery, and what it has accepted.
   * @returns whether an endpoint is new
   */
  #updateDeliveries(): boolean {
    const { endpoints, supportsConfigure, leadership, fleetLeadership } = this.#options;
    if (!supportsConfigure) return false;
    const before = this.#deliveries;
    const deliveries = new Map<string | null, ConfigDelivery>();
    for (const endpoint of endpoints.names) {
      const fleet = isOnThisMachine(endpoint) ? null : fleetLeadership;
      if (!(fleet ?? leadership).leads) continue;
      deliveries.set(endpoint, before.get(endpoint) ?? this.#createDelivery(endpoint, fleet));
    }
    this.#deliveries = deliveries;
    for (const [endpoint, delivery] of before) if (!deliveries.has(endpoint)) delivery.stop();
    return [...deliveries.keys()].some((endpoint) => !before.has(endpoint));
  }

  #createDelivery(endpoint: string | null, leadership: FleetLeadership | null): ConfigDelivery {
    const { provider, descriptor, manifest, log, owner } = this.#options;
    const path = manifest.config?.delivery_path ?? null;
    const target = { provider, descriptor, path, endpoint, owner };
    return new ConfigDelivery({
      read: async () => {
        const stored = await this.#read();
        return this.#toConfiguration(stored, this.#opened ?? this.#readRestartOnly(stored));
      },
      leadership,
      deliver: (configuration, signal) => deliverConfig(target, configuration, signal),
      onProblem: (reason, revision) => {
        const fields = { endpoint, revision, reason };
        if (reason === null) log.info(fields, 'configuration accepted');
        else log.warn(fields, 'configuration not delivered yet');
      },
    });
  }

  #refresh(): void {
    this.#isStale = true;
    // Never rejects.
    if (!this.#isReading) void this.#follow();
  }

  async #follow(): Promise<void> {
    this.#isReading = true;
    clearTimeout(this.#rereading);
    while (this.#isStale && !this.#options.end.aborted) {
      this.#isStale = false;
      try {
        await this.#deliver();
        this.#failedReads = 0;
      } catch (error) {
        this.#rereadLater(error);
      }
    }
    this.#isReading = false;
  }

  /** @throws StoreUnavailable, also when all values except a generated one were delivered. */
  async #deliver(): Promise<void> {
    const failure = await this.#ensureGenerated();
    const stored = await this.#read();
    this.#opened ??= this.#readRestartOnly(stored);
    this.#reportUnusable(stored);
    const unrecorded = await this.#recordPlace(stored).then(() => null, toError);
    if (!this.#options.end.aborted) {
      const configuration = this.#toConfiguration(stored, this.#opened);
      for (const delivery of this.#deliveries.values()) delivery.push(configuration);
    }
    // Thrown after the delivery, because the other values do not depend on a generated one.
    const problem = failure ?? unrecorded;
    if (problem !== null) throw problem;
  }

  /** @throws StoreUnavailable. */
  #read(): Promise<StoredConfig> {
    const { store, descriptor } = this.#options;
    return store.config.read(descriptor.module, listSecretNames(this.#fields));
  }

  /** Releases may not move stored secrets to another place without a further right. */
  async #recordPlace({ secrets, place }: StoredConfig): Promise<void> {
    const { store, descriptor, readPlace } = this.#options;
    if (this.#deliveries.size === 0 || secrets.size === 0) return;
    const current = await readPlace();
    if (current !== place) await store.config.writePlace(descriptor.module, current);
  }

  /** @returns the first failure; the other fields do not depend on it */
  async #ensureGenerated(): Promise<Error | null> {
    const { store, descriptor } = this.#options;
    let failure: Error | null = null;
    for (const { service, key, generated } of this.#fields) {
      if (generated === undefined) continue;
      const field = { module: descriptor.module, service, key, bytes: generated.bytes };
      const problem = await store.config.ensureGenerated(field).then(() => null, toError);
      failure ??= problem;
    }
    return failure;
  }

  #readRestartOnly(stored: StoredConfig): ReadonlyMap<string, unknown> {
    const fields = this.#fields.filter(isFixedAtOpen);
    return new Map(fields.map((field) => [fieldName(field), readEffective(field, stored)]));
  }

  #toConfiguration(stored: StoredConfig, opened: ReadonlyMap<string, unknown>): Configuration {
    const values: Record<string, unknown> = Object.create(null);
    for (const field of this.#fields) {
      const name = fieldName(field);
      const value = isFixedAtOpen(field) ? opened.get(name) : readEffective(field, stored);
      if (value !== undefined) values[name] = value;
    }
    return { revision: stored.revision, values };
  }

  #rereadLater(error: unknown): void {
    const { store, log, end } = this.#options;
    if (!(error instanceof StoreUnavailable)) {
      log.error({ err: error }, 'configuration cannot be read');
    } else if (store.unavailable === null) {
      // The store itself logs that it is unavailable, once for all modules.
      this.#report({ reason: error.message }, 'configuration partly not delivered yet');
    }
    if (end.aborted) return;
    this.#failedReads += 1;
    clearTimeout(this.#rereading);
    this.#rereading = setTimeout(() => this.#refresh(), backoffMs(this.#failedReads, REREAD));
  }

  #reportUnusable(stored: StoredConfig): void {
    const unusable = findUnusable(this.#fields, stored);
    if (unusable.length > 0) this.#report({ unusable }, 'stored configuration values ignored');
  }

  /** Logs only changes, and never a value. */
  #report(fields: Readonly<Record<string, unknown>>, message: string): void {
    const text = JSON.stringify(fields);
    if (text === this.#reported.get(message)) return;
    this.#reported.set(message, text);
    this.#options.log.warn(fields, message);
  }
}

/**
 * A generated value never changes. It may be missing until the first read, which requires no
 * restart.
 */
function isFixedAtOpen({ restart_only, generated }: ConfigField): boolean {
  return restart_only === true && generated === undefined;
}

/** Other hosts of a fleet cannot reach it. */
function isOnThisMachine(endpoint: string | null): boolean {
  if (endpoint === null || !URL.canParse(endpoint)) return false;
  const url = new URL(endpoint);
  return url.protocol === 'unix:' || isLoopbackUrl(url);
}
