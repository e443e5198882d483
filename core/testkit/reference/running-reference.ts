import type { ReferenceModule } from './reference-module.js';
import type { ReferenceFault } from './reference-protocol.js';

/** A reference module that can be reached over the transport under test. */
export interface RunningReference {
  /** The `provider.config` with which the adapter reaches it. */
  readonly config: unknown;
  /**
   * The secrets that `config` refers to, by reference (`env:TOKEN`). Where there are any, the suite looks
   * for them in every message. Default none.
   */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The files that `config` refers to, by reference. Default none. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** What `context.path` answers, by reference. Default the reference itself. */
  readonly paths?: Readonly<Record<string, string>>;
  /** The faults that this transport can carry out; the clauses about others are skipped. Default none. */
  readonly faults?: readonly ReferenceFault[];
  /** How many connections are open, at the provider's end. Absent where the transport has none. */
  connections?(): number;
  /**
   * Takes the provider down: nobody listens, and what is in flight breaks. Resolves when that is so.
   * Absent, with `up`, where a provider cannot be down.
   */
  down?(): Promise<void>;
  /** Brings it back, under the same `config`. Resolves when it can be reached. */
  up?(): Promise<void>;
  /** Called once, at the end, whether it is up or down. Must not wait for calls in flight. */
  stop(): Promise<void>;
}

/** Serves `reference` over a transport. Called anew for each clause; must not share state with others. */
export type StartReference = (reference: ReferenceModule) => Promise<RunningReference>;
