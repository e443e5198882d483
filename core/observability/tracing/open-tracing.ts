import type { Log } from '../../contract/index.js';
import type { RequestTracing } from '../../operations/request-span.js';
import { judgeOtlpEnvironment, readOtlpProtocol, wantsTraces } from './otlp-environment.js';

export interface Tracing extends RequestTracing {
  /** Sends what has not been sent, as far as that is possible in a second. Never throws. */
  close(): Promise<void>;
}

/**
 * Traces go to where `OTEL_EXPORTER_OTLP_ENDPOINT` says; without it there are none, and the SDK, which
 * takes 100 ms to load, stays on the disk.
 * @throws ConfigError that names the variable.
 */
export async function openTracing(
  environment: NodeJS.ProcessEnv,
  version: string,
  log: Log,
): Promise<Tracing | null> {
  if (!wantsTraces(environment)) return null;
  judgeOtlpEnvironment(environment);
  const { createOtlpTracing } = await import('./otlp-tracing.js');
  return createOtlpTracing(readOtlpProtocol(environment), version, log);
}
