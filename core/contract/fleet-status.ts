/** A host of a fleet, as `GET /fleet` shows it. Times are the store's clock, in ISO 8601. */
export interface FleetHostStatus {
  /** Kept under `--state`. */
  readonly id: string;
  /** The version of modgate. */
  readonly version: string;
  /** The URL that it listens on. */
  readonly address: string;
  /** The digest of what it serves. */
  readonly digest: string;
  /** `lost`: without a heartbeat for 6 s; it may still serve. */
  readonly state: 'starting' | 'ready' | 'draining' | 'lost';
  /** When the host started last. */
  readonly started_at: string;
  /** When it reported last. */
  readonly heartbeat_at: string;
  /** How many of its processes serve. */
  readonly workers: number;
  /** Names, or files, of the modules that it rejected or still waits for. */
  readonly rejected: readonly string[];
  /** Whether it serves the module or digest that was asked for; absent without a question. */
  readonly serves?: boolean | undefined;
}

/** `GET /fleet`. */
export interface FleetStatus {
  /** The name of the fleet. */
  readonly fleet: string;
  /** Whether all hosts that are ready serve the same. Never while a host is lost, which may still serve. */
  readonly agreed: boolean;
  /** What the hosts that are ready serve; `null` where they differ. */
  readonly digest: string | null;
  /** The hosts, sorted by id. */
  readonly hosts: readonly FleetHostStatus[];
}
