/** A host of a fleet, as `GET /fleet` shows it. Times are the store's clock, in ISO 8601. */
export interface FleetHostStatus {
  /** Kept under `--state`. */
  readonly id: string;
  /** The version of modgate. */
  readonly version: string;
  /** The URL that it listens on. */
  readonly address: string;
  /** The digest of its modules. */
  readonly digest: string;
  /** `lost`: without a heartbeat for 6 s; it may still serve. */
  readonly state: 'starting' | 'ready' | 'draining' | 'lost';
  /** The time of its last start. */
  readonly started_at: string;
  /** The time of its last heartbeat. */
  readonly heartbeat_at: string;
  /** The number of its serving processes. */
  readonly workers: number;
  /** Names, or files, of modules that it rejected or that are pending. */
  readonly rejected: readonly string[];
  /** Whether it serves the module or digest of the query; absent without one. */
  readonly serves?: boolean | undefined;
}

/** The response to `GET /fleet`. */
export interface FleetStatus {
  /** The name of the fleet. */
  readonly fleet: string;
  /**
   * Whether all ready hosts serve the same modules. False while a host is lost, because it may
   * still serve.
   */
  readonly agreed: boolean;
  /** The common digest of the ready hosts; `null` if they differ. */
  readonly digest: string | null;
  /** The hosts, sorted by id. */
  readonly hosts: readonly FleetHostStatus[];
}
