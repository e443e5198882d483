import type { Balancing, HealthChecks } from '../../core/contract/index.js';
import { HEALTH_DEFAULTS, type HttpConfig, type UnixConfig } from './config.js';

/** Of a check, also where the config asks for none at intervals. */
export const DEFAULT_CHECK_TIMEOUT_MS = HEALTH_DEFAULTS.timeoutMs;

type BalancingConfig = Pick<HttpConfig, 'strategy' | 'hash_header'> & Pick<UnixConfig, 'health'>;

/** What the config says about the choice among endpoints, for the host, which makes it. */
export function readBalancing({ strategy, hash_header, health }: BalancingConfig): Balancing {
  return {
    strategy: strategy ?? 'round_robin',
    hashHeader: hash_header?.toLowerCase() ?? null,
    health: health === undefined ? null : readHealth(health),
  };
}

function readHealth(health: NonNullable<UnixConfig['health']>): HealthChecks {
  return {
    intervalMs: health.interval_ms ?? HEALTH_DEFAULTS.intervalMs,
    timeoutMs: health.timeout_ms ?? HEALTH_DEFAULTS.timeoutMs,
    failures: health.failures ?? HEALTH_DEFAULTS.failures,
    successes: health.successes ?? HEALTH_DEFAULTS.successes,
  };
}
