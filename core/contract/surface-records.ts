/** A stored value of a surface. */
export interface SurfaceRecord {
  /** Matches `^[A-Za-z0-9._:-]{1,128}$`. */
  readonly key: string;
  /** The value as it was set. */
  readonly value: unknown;
  /** Changes with the value and with the expiry. */
  readonly revision: string;
  /** The time of its removal. Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The options of a write. */
export interface SetRecordOptions {
  /** Required, because all records expire. Milliseconds since 1970. */
  readonly expiresAt: number;
  /**
   * `absent`: only if there is none. `present`: only if there still is one, so that a value that
   * was deleted meanwhile does not come back. `revision`: only if it is still the record that was
   * read, so that only one of several processes changes it. Default: always.
   */
  readonly only?: 'absent' | 'present' | { readonly revision: string };
}

/**
 * Small values of one surface in the host's store: shared by all processes, and kept over a restart. A value
 * is JSON of at most 64 KiB, and a surface has at most 10,000 of them. Values are stored in clear.
 *
 * Every function throws a {@link SurfaceError} `unavailable` while the store is not available.
 */
export interface SurfaceRecords {
  /** `null` without a record, and for an expired one. */
  get(key: string): Promise<SurfaceRecord | null>;
  /**
   * Durable when it resolves.
   * @returns whether it was set, see `only`.
   * @throws TypeError for a bad key or expiry, or a value that is too large or is not JSON; SurfaceError
   * `unavailable` for a new record beyond the limit.
   */
  set(key: string, value: unknown, options: SetRecordOptions): Promise<boolean>;
  /** @returns whether the record existed: of several concurrent calls, one gets `true`. */
  delete(key: string): Promise<boolean>;
  /** Lists records by key. @param prefix of the keys; default: all. */
  list(prefix?: string): Promise<readonly SurfaceRecord[]>;
}
