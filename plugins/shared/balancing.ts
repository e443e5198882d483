import type { Infer } from 'superstruct';
import type { Balancing, HealthChecks } from '../../core/contract/index.js';
import { HEALTH_DEFAULTS, type health } from './health-config.js';

/** The timeout of a check without configured health checks. */
export const DEFAULT_CHECK_TIMEOUT_MS = HEALTH_DEFAULTS.timeoutMs;

type HealthConfig = Omit<Infer<typeof health>, 'path'>;

interface BalancingConfig {
  readonly strategy?: Balancing['strategy'] | undefined;
  readonly hash_header?: string | undefined;
  readonly health?: HealthConfig | undefined;
}

/** Balances the one endpoint of a thread or child of the host. Checks are frequent, because they send nothing while it is down. */
export const OWN_ENDPOINT: Balancing = {
  strategy: 'round_robin',
  hashHeader: null,
  health: { intervalMs: 2_000, timeoutMs: 1_000, failures: 1, successes: 1 },
};

/** Converts the config of load balancing and health checks, which the host runs. */
export function readBalancing({ strategy, hash_header, health }: BalancingConfig): Balancing {
  return {
    strategy: strategy ?? 'round_robin',
    hashHeader: hash_header?.toLowerCase() ?? null,
    health: health === undefined ? null : readHealth(health),
  };
}

function readHealth(health: HealthConfig): HealthChecks {
  return {
    intervalMs: health.interval_ms ?? HEALTH_DEFAULTS.intervalMs,
    timeoutMs: health.timeout_ms ?? HEALTH_DEFAULTS.timeoutMs,
    failures: health.failures ?? HEALTH_DEFAULTS.failures,
    successes: health.successes ?? HEALTH_DEFAULTS.successes,
  };
}
