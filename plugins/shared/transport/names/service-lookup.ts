import type { SrvRecord } from 'node:dns';
import type { Resolver } from 'node:dns/promises';
import { AddressLookup, MAX_ADDRESSES } from './address-lookup.js';
import { LastAnswer } from './last-answer.js';
import type { ResolverSettings } from './resolver-config.js';

/** Matches names only, because the target is queried and shown. */
const TARGET = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;
/** The number of concurrent queries for targets. */
const BATCH = 32;

/** An address with the values of its SRV record. */
export interface ServicePlace {
  readonly address: string;
  readonly port: number;
  readonly weight: number;
  /** The rank of its priority among those of the name, from 0. */
  readonly priority: number;
}

/** The SRV records of one name, and the addresses of their targets. */
export class ServiceLookup {
  readonly #name: string;
  readonly #resolver: Resolver;
  readonly #settings: ResolverSettings;
  readonly #services: LastAnswer<SrvRecord>;
  /** Keyed by name; limited by the number of used records. */
  #targets: ReadonlyMap<string, AddressLookup> = new Map();

  constructor(name: string, resolver: Resolver, settings: ResolverSettings) {
    this.#name = name;
    this.#resolver = resolver;
    this.#settings = settings;
    this.#services = new LastAnswer(settings.staleMs);
  }

  inherit(earlier: ServiceLookup): void {
    this.#services.inherit(earlier.#services);
    this.#targets = new Map(
      [...earlier.#targets].map(([name, target]) => {
        const lookup = this.#keepOrCreate(name);
        lookup.inherit(target);
        return [name, lookup];
      }),
    );
  }

  get places(): readonly ServicePlace[] {
    const records = this.#services.records;
    const priorities = [...new Set(records.map(({ priority }) => priority))].sort((a, b) => a - b);
    return records.flatMap(({ name, port, weight, priority }) =>
      (this.#targets.get(name)?.addresses ?? []).map((address) => ({
        address,
        port,
        weight: Math.max(1, weight),
        priority: priorities.indexOf(priority),
      })),
    );
  }

  get arrivedAt(): Date | null {
    return this.#services.arrivedAt;
  }

  /** `DNS ESERVFAIL _http._tcp.crm.internal`, or the failure of a target. */
  get failure(): string | null {
    const { failure } = this.#services;
    if (failure !== null) return `DNS ${failure} ${this.#name}`;
    for (const target of this.#targets.values()) if (target.failure !== null) return target.failure;
    return null;
  }

  /** Never rejects. */
  async refresh(): Promise<void> {
    await this.#services.refresh(async () =>
      selectRecords(await this.#resolver.resolveSrv(this.#name)),
    );
    const names = new Set(this.#services.records.map(({ name }) => name));
    const targets = new Map([...names].map((name) => [name, this.#keepOrCreate(name)]));
    const lookups = [...targets.values()];
    for (let from = 0; from < lookups.length; from += BATCH) {
      await Promise.all(lookups.slice(from, from + BATCH).map((lookup) => lookup.refresh()));
    }
    this.#targets = targets;
  }

  #keepOrCreate(name: string): AddressLookup {
    return this.#targets.get(name) ?? new AddressLookup(name, this.#resolver, this.#settings);
  }
}

/** Excludes the target `.`, which means that there is no such service. */
function selectRecords(records: readonly SrvRecord[]): readonly SrvRecord[] {
  return records
    .filter(({ name, port }) => TARGET.test(name) && port > 0)
    .sort((a, b) => a.priority - b.priority || compareText(a.name, b.name) || a.port - b.port)
    .slice(0, MAX_ADDRESSES);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
