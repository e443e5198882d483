import type { Log } from '../../contract/index.js';
import type { Tracing } from './request-span.js';

/**
 * Exports traces to `OTEL_EXPORTER_OTLP_ENDPOINT`. Without it, tracing is off and the SDK, which
 * takes 100 ms to load, is not imported.
 */
export async function openTracing(
  environment: NodeJS.ProcessEnv,
  version: string,
  log: Log,
): Promise<Tracing | null> {
  if (!exportsTraces(environment)) return null;
  const { createOtlpTracing } = await import('./otlp-tracing.js');
  return createOtlpTracing(readExporterVariable(environment, 'PROTOCOL'), version, log);
}

/** Whether the environment names a receiver and traces are not disabled. */
function exportsTraces(environment: NodeJS.ProcessEnv): boolean {
  const isOff =
    environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' ||
    environment['OTEL_TRACES_EXPORTER'] === 'none';
  return !isOff && readExporterVariable(environment, 'ENDPOINT') !== undefined;
}

/** The variable for traces overrides the general one. An empty variable counts as absent. */
function readExporterVariable(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  return (
    environment[`OTEL_EXPORTER_OTLP_TRACES_${name}`]?.trim() ||
    environment[`OTEL_EXPORTER_OTLP_${name}`]?.trim() ||
    undefined
  );
}
