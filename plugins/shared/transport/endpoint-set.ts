import type { Endpoint } from '../../../core/contract/index.js';
import type { EndpointClient } from './transport.js';

/** What the host knows of an endpoint. */
interface ShownPlace {
  readonly id: string;
  readonly weight: number;
  readonly priority?: number;
  readonly origin: string;
  readonly prefix: string;
}

interface EndpointSetOptions<P, T> {
  readonly connect: (place: P) => T;
  /** Whether endpoints have a URL, below which the host maps references. */
  readonly hasUrls: boolean;
}

export class EndpointSet<P extends ShownPlace, T extends EndpointClient> {
  readonly #options: EndpointSetOptions<P, T>;
  #byId: ReadonlyMap<string, T> = new Map();
  #endpoints: readonly Endpoint[] = [];
  /** Removed ones with calls in flight. */
  readonly #retired = new Set<T>();

  constructor(places: readonly P[], options: EndpointSetOptions<P, T>) {
    this.#options = options;
    this.replace(places);
  }

  /** The endpoints in the order of the config. */
  get endpoints(): readonly Endpoint[] {
    return this.#endpoints;
  }

  get first(): T | undefined {
    return this.list()[0];
  }

  list(): readonly T[] {
    return [...this.#byId.values()];
  }

  find(id: string): T | undefined {
    return this.#byId.get(id);
  }

  /**
   * Replaces the endpoints. Those with the same id keep their connections; the others finish their
   * calls.
   */
  replace(places: readonly P[]): void {
    const before = this.#byId;
    const { connect, hasUrls } = this.#options;
    this.#byId = new Map(places.map((place) => [place.id, before.get(place.id) ?? connect(place)]));
    this.#endpoints = places.map(({ id, weight, origin, prefix, priority = 0 }) => ({
      id,
      weight,
      ...(hasUrls && { url: origin + prefix }),
      ...(priority > 0 && { priority }),
    }));
    for (const [id, client] of before) if (!this.#byId.has(id)) this.#retired.add(client);
    this.closeRetired();
  }

  /** Closes the idle connections of removed endpoints. */
  closeRetired(): void {
    for (const client of this.#retired) {
      client.retire();
      if (client.isUnused) this.#retired.delete(client);
    }
  }

  /** Closes all; later calls fail. */
  async close(): Promise<void> {
    const all = [...this.#byId.values(), ...this.#retired];
    await Promise.all(all.map((client) => client.close()));
  }
}
