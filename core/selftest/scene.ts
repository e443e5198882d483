import type { RawAddress } from './raw-http.js';

/** The target of the attacks. */
export interface Scene {
  readonly address: RawAddress;
  /** The value of the `host` header. */
  readonly authority: string;
  /** `/modules/{module}/http`. */
  readonly base: string;
  /** Relative to `base`, without a query: a GET route that the token may call. */
  readonly route: string;
  /** `null` skips the cases that require a token. */
  readonly token: string | null;
  /** Values that no response may contain. */
  readonly secrets: readonly string[];
  /** The request and correlation id of the current attack. */
  readonly mark: string;
}
