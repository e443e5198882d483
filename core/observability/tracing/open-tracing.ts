import type { Log } from '../../contract/index.js';
import { checkOtlpEnvironment, readOtlpProtocol, wantsTraces } from './otlp-environment.js';
import type { Tracing } from './request-span.js';

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
  checkOtlpEnvironment(environment);
  const { createOtlpTracing } = await import('./otlp-tracing.js');
  return createOtlpTracing(readOtlpProtocol(environment), version, log);
}
