import type { Endpoint } from '../../core/contract/index.js';
import { Replica, type ReplicaOptions } from './replica.js';

/** The replicas of one provider. */
export class ReplicaSet {
  #byId: ReadonlyMap<string, Replica> = new Map();
  #endpoints: readonly Endpoint[] = [];
  /** Removed replicas with calls in flight. */
  readonly #retired = new Set<Replica>();

  constructor(options: readonly ReplicaOptions[]) {
    this.replace(options);
  }

  /** The endpoints in the order of the config. */
  get endpoints(): readonly Endpoint[] {
    return this.#endpoints;
  }

  get first(): Replica | undefined {
    return this.list()[0];
  }

  list(): readonly Replica[] {
    return [...this.#byId.values()];
  }

  find(id: string): Replica | undefined {
    return this.#byId.get(id);
  }

  /**
   * Replaces the replicas. Those with the same id keep their connections; the others finish their
   * calls.
   */
  replace(options: readonly ReplicaOptions[]): void {
    const before = this.#byId;
    this.#byId = new Map(
      options.map((replica) => [replica.id, before.get(replica.id) ?? new Replica(replica)]),
    );
    this.#endpoints = options.map(({ id, weight, origin, prefix, priority = 0 }) => ({
      id,
      weight,
      url: origin + prefix,
      ...(priority > 0 && { priority }),
    }));
    for (const [id, replica] of before) if (!this.#byId.has(id)) this.#retired.add(replica);
    this.closeRetired();
  }

  /** Closes the idle connections of removed replicas. */
  closeRetired(): void {
    for (const replica of this.#retired) {
      replica.retire();
      if (replica.isUnused) this.#retired.delete(replica);
    }
  }

  /** Closes all replicas; later calls fail. */
  async close(): Promise<void> {
    const all = [...this.#byId.values(), ...this.#retired];
    await Promise.all(all.map((replica) => replica.close()));
  }
}
