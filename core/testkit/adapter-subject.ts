import type { ProviderAdapter } from '../contract/index.js';
import type { StartReference } from './reference/running-reference.js';

/** An adapter, and what the suite needs to put it to the test. */
export interface AdapterSubject {
  /** What is put to the test; `modgate test-plugin` takes the one of its kind that the entry exports. */
  // The suite hands over what `start` says, and the adapter's own struct judges it first.
  // biome-ignore lint/suspicious/noExplicitAny: config types differ from adapter to adapter
  readonly adapter: ProviderAdapter<any>;
  /** Serves the reference module over the adapter's transport; called anew for each clause. */
  readonly start: StartReference;
  /**
   * Clauses that cannot hold for this transport, by id, with the reason. They are reported as skipped,
   * with it. Default none; an id that is no clause's is an error.
   */
  readonly except?: Readonly<Record<string, string>>;
  /** How often `lifetime.*` opens and closes. Default 1,000; at least 50. */
  readonly cycles?: number;
  /**
   * How long a clause waits for what must happen. Milliseconds, default 10,000: a machine that is busy
   * must not fail an adapter. Shorten it only to see a clause fail.
   */
  readonly patienceMs?: number;
}

/**
 * A subject whose config type is checked: `start` and `adapter` as they are, for the export `subjects`
 * of a plugin's `testkit.js`.
 */
export function defineSubject(subject: AdapterSubject): AdapterSubject {
  return Object.freeze({ ...subject });
}
