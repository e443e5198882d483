import { Resolver } from 'node:dns/promises';
import { calledName, isNamed, type NamedPlace } from '../endpoint-entries.js';
import type { EndpointPlace } from '../transport.js';
import type { EndpointEntry, FixedEndpoint, NamedEndpoint } from '../transport-config.js';
import { AddressLookup, MAX_ADDRESSES } from './address-lookup.js';
import type { ResolverSettings } from './resolver-config.js';
import { ServiceLookup, type ServicePlace } from './service-lookup.js';

/** The timeout of the first try; the second one takes longer. */
export const QUERY_TIMEOUT_MS = 1_000;
export const QUERY_TRIES = 2;

interface EndpointWatchOptions {
  readonly settings: ResolverSettings;
  /** Identifies an entry. */
  readonly idOf: (entry: EndpointEntry) => string;
  readonly toPlace: (entry: FixedEndpoint | NamedPlace) => EndpointPlace;
  /** Called after each lookup. */
  readonly onLookup: () => void;
  /**
   * The watches of earlier versions of the provider, newest first, whose answers are used until
   * there is a newer one.
   */
  readonly earlier: readonly EndpointWatch[];
}

/** The current result of a lookup. */
type Lookup = Pick<AddressLookup, 'arrivedAt' | 'failure' | 'refresh'> & {
  readonly places: readonly ServicePlace[];
};

/** The addresses of the names in a list of endpoints, resolved at intervals. */
export class EndpointWatch {
  readonly #options: EndpointWatchOptions;
  readonly #resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  #entries: readonly EndpointEntry[];
  /** Keyed by entry; entries that remain in a changed list keep their results. */
  #lookups: ReadonlyMap<string, Lookup> = new Map();
  readonly #running = new Map<Lookup, Promise<void>>();
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(entries: readonly EndpointEntry[], options: EndpointWatchOptions) {
    this.#options = options;
    this.#entries = entries;
    const { servers } = options.settings;
    if (servers !== null) this.#resolver.setServers(servers);
    this.#createLookups();
  }

  /** Sorted by entry, at most 256, without duplicates. */
  get places(): readonly EndpointPlace[] {
    const { idOf, toPlace } = this.#options;
    const places = this.#entries.flatMap((entry) => {
      if (!isNamed(entry)) return [toPlace(entry)];
      const found = this.#lookups.get(idOf(entry))?.places ?? [];
      return found.map((place) => toPlace({ ...place, entry }));
    });
    const byId = new Map<string, EndpointPlace>();
    for (const place of places) if (!byId.has(place.id)) byId.set(place.id, place);
    return [...byId.values()].slice(0, MAX_ADDRESSES);
  }

  /** Returns `null` while a name has had no answer. */
  get resolvedAt(): Date | null {
    const times = [...this.#lookups.values()].map(({ arrivedAt }) => arrivedAt);
    return times.reduce((oldest, time) => {
      if (oldest === null || time === null) return null;
      return time < oldest ? time : oldest;
    }, times[0] ?? null);
  }

  get failure(): string | null {
    for (const { failure } of this.#lookups.values()) if (failure !== null) return failure;
    return null;
  }

  /** The number of failed lookups. */
  get failures(): number {
    return this.#failures;
  }

  /** Resolves every name once, then at intervals. Never rejects. */
  async start(): Promise<void> {
    clearTimeout(this.#timer);
    const startedAt = performance.now();
    const lookups = this.#lookups;
    await Promise.all([...lookups.values()].map((lookup) => this.#look(lookup)));
    // A changed list has begun its own round.
    if (this.#isClosed || lookups !== this.#lookups) return;
    const { settings, onLookup } = this.#options;
    onLookup();
    const restMs = settings.refreshMs - (performance.now() - startedAt);
    // Never rejects.
    this.#timer = setTimeout(() => void this.start(), Math.max(0, restMs)).unref();
  }

  /** Resolves once the new names have been looked up. */
  async replace(entries: readonly EndpointEntry[]): Promise<void> {
    this.#entries = entries;
    this.#createLookups();
    await this.start();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#resolver.cancel();
  }

  /** Runs one lookup at a time, because a changed list may begin a round during another one. */
  #look(lookup: Lookup): Promise<void> {
    const running = this.#running.get(lookup) ?? this.#refresh(lookup);
    this.#running.set(lookup, running);
    return running;
  }

  async #refresh(lookup: Lookup): Promise<void> {
    await lookup.refresh();
    this.#running.delete(lookup);
    if (lookup.failure !== null && !this.#isClosed) this.#failures += 1;
  }

  #createLookups(): void {
    const before = this.#lookups;
    this.#lookups = new Map(
      this.#entries.filter(isNamed).map((entry) => {
        const id = this.#options.idOf(entry);
        return [id, before.get(id) ?? this.#createLookup(entry)];
      }),
    );
  }

  #createLookup(entry: NamedEndpoint): Lookup {
    const { settings } = this.#options;
    const earlierLookup = this.#findKnown(entry);
    if ('srv' in entry) {
      const lookup = new ServiceLookup(entry.srv, this.#resolver, settings);
      if (earlierLookup instanceof ServiceLookup) lookup.inherit(earlierLookup);
      return lookup;
    }
    const lookup = new AddressLookup(calledName(entry), this.#resolver, settings);
    if (earlierLookup instanceof FixedPort) lookup.inherit(earlierLookup.lookup);
    return new FixedPort(lookup, entry.port);
  }

  /** Ignores results of another server, and addresses that are no longer allowed. */
  #findKnown(entry: NamedEndpoint): Lookup | undefined {
    const { settings, earlier, idOf } = this.#options;
    const id = idOf(entry);
    const usable = earlier.filter((other) => isSameSource(other.#options.settings, settings));
    for (const watch of usable) {
      const lookup = watch.#lookups.get(id);
      if (lookup !== undefined) return lookup;
    }
    return undefined;
  }
}

function isSameSource(a: ResolverSettings, b: ResolverSettings): boolean {
  return a.allowLocal === b.allowLocal && String(a.servers) === String(b.servers);
}

class FixedPort implements Lookup {
  readonly lookup: AddressLookup;
  readonly #port: number;

  constructor(lookup: AddressLookup, port: number) {
    this.lookup = lookup;
    this.#port = port;
  }

  get places(): readonly ServicePlace[] {
    const port = this.#port;
    return this.lookup.addresses.map((address) => ({ address, port, weight: 1, priority: 0 }));
  }

  get arrivedAt(): Date | null {
    return this.lookup.arrivedAt;
  }

  get failure(): string | null {
    return this.lookup.failure;
  }

  refresh(): Promise<void> {
    return this.lookup.refresh();
  }
}
