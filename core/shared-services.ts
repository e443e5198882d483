import { SHARED_ATTEMPTS } from './auth/shared-attempts.js';
import { SHARED_KNOWN_FILES } from './config/shared-known-files.js';
import { RETIRED_METRICS } from './observability/metrics/retired-metrics.js';
import { SHARED_MODULE_FILES } from './operations/status/shared-module-files.js';
import type { SharedService } from './processes.js';
import { SHARED_RATES } from './provider/shared-rates.js';

/** The services with a part in the primary, in the order in which their parts are opened. */
export const SHARED_SERVICES: readonly SharedService<unknown>[] = [
  SHARED_MODULE_FILES,
  RETIRED_METRICS,
  SHARED_ATTEMPTS,
  SHARED_RATES,
  SHARED_KNOWN_FILES,
];
