import type { Cancellation, ConfigField, Log, Manifest, Provider } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { ErrorOwner } from '../isolation/error-owner.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { type Store, type StoredConfig, StoreUnavailable } from '../store/store.js';
import { ConfigDelivery, deliverConfig } from './config-delivery.js';
import {
  fieldName,
  findUnusable,
  isSameJson,
  listConfigFields,
  listSecretNames,
  readEffective,
} from './config-fields.js';
import type { Leadership } from './leadership.js';

export interface ModuleConfigOptions {
  readonly descriptor: Descriptor;
  readonly manifest: Manifest;
  readonly provider: Provider;
  /** Whether the adapter's providers take `configure` at all. */
  readonly takesConfig: boolean;
  /** Only who leads delivers: two could overtake each other. */
  readonly leadership: Leadership;
  readonly store: Store;
  readonly log: Log;
  /** Who answers for the provider's code; absent: nobody but the host. */
  readonly owner?: ErrorOwner | null;
  /** Ends the delivery. */
  readonly end: Cancellation;
}

const REREAD: BackoffBounds = { firstMs: 200, maxMs: 10_000 };

/**
 * The configuration of one live version of a module: keeps what the version was opened with, and delivers
 * the effective values at the start and after each change until they are accepted. The latest revision
 * wins. A store or a provider that does not answer is asked again; neither holds up a call.
 */
export class ModuleConfig {
  readonly #options: ModuleConfigOptions;
  readonly #fields: readonly ConfigField[];
  /** Values of restart-only fields as they were when the version opened; `null` until they are known. */
  #opened: ReadonlyMap<string, unknown> | null = null;
  #couriers: readonly ConfigDelivery[] = [];
  #isStale = false;
  #isReading = false;
  #failedReads = 0;
  #rereading: NodeJS.Timeout | undefined;
  /** The fields of what was told last, by message. */
  readonly #reported = new Map<string, string>();

  constructor(options: ModuleConfigOptions) {
    this.#options = options;
    this.#fields = listConfigFields(options.manifest);
  }

  /** Begins to deliver; answers at once. Does nothing for a module without config fields. */
  start(): void {
    if (this.#fields.length === 0) return;
    const { store, end, descriptor, leadership } = this.#options;
    this.#couriers = this.#createCouriers();
    const unfollow = leadership.onChange(() => this.#changeCouriers());
    const unsubscribe = store.onConfigChange((module) => {
      if (module === null || module === descriptor.module) this.#refresh();
    });
    const stop = () => {
      unsubscribe();
      unfollow();
      clearTimeout(this.#rereading);
      for (const courier of this.#couriers) courier.stop();
    };
    end.addEventListener('abort', { handleEvent: stop });
    this.#refresh();
  }

  /** Whether a field that takes effect at a restart has a value that the running version was not opened with. */
  isPendingRestart(field: ConfigField, effective: unknown): boolean {
    if (!isFixedAtOpen(field) || this.#opened === null) return false;
    return !isSameJson(this.#opened.get(fieldName(field)), effective);
  }

  #changeCouriers(): void {
    for (const courier of this.#couriers) courier.stop();
    this.#couriers = this.#createCouriers();
    this.#refresh();
  }

  /** Each endpoint is a process of its own that needs its configuration, whatever the others do. */
  #createCouriers(): ConfigDelivery[] {
    const { provider, descriptor, manifest, takesConfig, leadership, log, owner } = this.#options;
    if (!takesConfig || !leadership.leads) return [];
    const path = manifest.config?.delivery_path ?? null;
    const named = provider.endpoints?.().map(({ id }) => id) ?? [];
    const endpoints = named.length > 0 ? named : [null];
    return endpoints.map((endpoint) => {
      const target = { provider, descriptor, path, endpoint, owner: owner ?? null };
      return new ConfigDelivery({
        deliver: (configuration, signal) => deliverConfig(target, configuration, signal),
        onTrouble: (reason, { revision }) => {
          const fields = { endpoint, revision, reason };
          if (reason === null) log.info(fields, 'the configuration was taken');
          else log.warn(fields, 'the configuration is not delivered yet');
        },
      });
    });
  }

  #refresh(): void {
    this.#isStale = true;
    // Catches everything itself.
    if (!this.#isReading) void this.#follow();
  }

  async #follow(): Promise<void> {
    this.#isReading = true;
    clearTimeout(this.#rereading);
    while (this.#isStale && !this.#options.end.aborted) {
      this.#isStale = false;
      try {
        await this.#offer();
        this.#failedReads = 0;
      } catch (error) {
        this.#rereadLater(error);
      }
    }
    this.#isReading = false;
  }

  /** @throws StoreUnavailable, also when all but a generated value was offered. */
  async #offer(): Promise<void> {
    const failure = await this.#ensureGenerated().then(() => null, toError);
    const { store, descriptor } = this.#options;
    const stored = await store.readConfig(descriptor.module, listSecretNames(this.#fields));
    this.#opened ??= this.#readRestartOnly(stored);
    this.#reportUnusable(stored);
    const values = this.#listValues(stored, this.#opened);
    if (!this.#options.end.aborted) {
      for (const courier of this.#couriers) courier.push({ revision: stored.revision, values });
    }
    // The rest of the configuration does not wait for it.
    if (failure !== null) throw failure;
  }

  async #ensureGenerated(): Promise<void> {
    const { store, descriptor } = this.#options;
    for (const { service, key, generated } of this.#fields) {
      if (generated === undefined) continue;
      await store.ensureGenerated({
        module: descriptor.module,
        service,
        key,
        bytes: generated.bytes,
      });
    }
  }

  #readRestartOnly(stored: StoredConfig): ReadonlyMap<string, unknown> {
    const fields = this.#fields.filter(isFixedAtOpen);
    return new Map(fields.map((field) => [fieldName(field), readEffective(field, stored)]));
  }

  #listValues(stored: StoredConfig, opened: ReadonlyMap<string, unknown>): Record<string, unknown> {
    const values: Record<string, unknown> = Object.create(null);
    for (const field of this.#fields) {
      const name = fieldName(field);
      const value = isFixedAtOpen(field) ? opened.get(name) : readEffective(field, stored);
      if (value !== undefined) values[name] = value;
    }
    return values;
  }

  #rereadLater(error: unknown): void {
    const { store, log, end } = this.#options;
    if (!(error instanceof StoreUnavailable)) {
      log.error({ err: error }, 'the configuration cannot be followed');
    } else if (store.unavailable === null) {
      // Of a store that is away the store itself tells, once for all modules.
      this.#report({ reason: error.message }, 'a part of the configuration is not delivered yet');
    }
    if (end.aborted) return;
    this.#failedReads += 1;
    clearTimeout(this.#rereading);
    this.#rereading = setTimeout(() => this.#refresh(), backoffMs(this.#failedReads, REREAD));
  }

  #reportUnusable(stored: StoredConfig): void {
    const unusable = findUnusable(this.#fields, stored);
    if (unusable.length > 0)
      this.#report({ unusable }, 'stored values of the configuration are of no use');
  }

  /** Not again as long as it is the same; never with a value. */
  #report(fields: Readonly<Record<string, unknown>>, message: string): void {
    const text = JSON.stringify(fields);
    if (text === this.#reported.get(message)) return;
    this.#reported.set(message, text);
    this.#options.log.warn(fields, message);
  }
}

/** What was generated never changes: it may come later than the first reading, and is no reason to restart. */
function isFixedAtOpen({ restart_only, generated }: ConfigField): boolean {
  return restart_only === true && generated === undefined;
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error('not an error', { cause: error });
}
