import type { ProviderAdapter } from '../contract/index.js';
import type { StartReference } from './reference/running-reference.js';

/** An adapter, and what the suite needs to test it. */
export interface AdapterSubject {
  /** The adapter under test. `modgate test-plugin` uses the one of the same kind that the entry exports. */
  // The config comes from `start` and is validated by the adapter's own struct.
  // biome-ignore lint/suspicious/noExplicitAny: config types differ from adapter to adapter
  readonly adapter: ProviderAdapter<any>;
  /** Serves the reference module over the adapter's transport. Called once per clause. */
  readonly start: StartReference;
  /**
   * Clauses that do not apply to this transport, by id, with the reason. They are reported as skipped.
   * Default none. An unknown id is an error.
   */
  readonly except?: Readonly<Record<string, string>>;
  /** How many times `lifetime.*` opens and closes a provider. Default 1,000, minimum 50. */
  readonly cycles?: number;
  /**
   * How long a clause waits for each step. Milliseconds, default 30,000, so that a busy machine does
   * not fail an adapter. Shorten it only to see a clause fail.
   */
  readonly timeoutMs?: number;
}

/**
 * Returns a frozen copy of `subject` with its type checked, for the export `subjects` of a plugin's
 * `testkit.js`.
 */
export function defineSubject(subject: AdapterSubject): AdapterSubject {
  return Object.freeze({ ...subject });
}
