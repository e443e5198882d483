import { DiagLogLevel, diag } from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { Log } from '../../contract/index.js';
import { type ErrorOwner, runAs } from '../../isolation/error-owner.js';
import { settleWithin } from '../../lib/promises.js';
import { createLogInterval } from '../../log/log-interval.js';
import { beginRequestSpan, type Tracing } from './request-span.js';

const CLOSE_TIMEOUT_MS = 1000;
/** Limits warnings, because the SDK reports an unavailable receiver at every batch. */
const WARN_INTERVAL_MS = 60_000;

/** The SDK's own defaults. */
const DEFAULT_QUEUE_SIZE = 2048;
const DEFAULT_BATCH_SIZE = 512;

/**
 * The SDK reads the `OTEL_*` variables for sampler, batches, headers and timeouts itself, from
 * `process.env`, and replaces an invalid value by its default.
 */
export async function createOtlpTracing(
  protocol: string | undefined,
  version: string,
  log: Log,
): Promise<Tracing> {
  setDiagLogger(log, 'invalid OTEL_* variable: its default applies');
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'modgate', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [createBatchProcessor(isolateExporter(await createExporter(protocol)))],
  });
  // The variables have been read: later reports of the SDK concern the receiver.
  setDiagLogger(log, 'traces lost: OTLP receiver unavailable');
  const tracer = provider.getTracer('modgate', version);
  return {
    begin: (request) => beginRequestSpan(tracer, request),
    // A receiver that hangs or fails loses its spans; it must not delay shutdown.
    close: () => settleWithin(provider.shutdown(), CLOSE_TIMEOUT_MS),
  };
}

async function createExporter(protocol = 'http/protobuf'): Promise<SpanExporter> {
  if (protocol === 'http/json') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
    return new OTLPTraceExporter();
  }
  if (protocol !== 'http/protobuf') diag.warn('unknown OTEL_EXPORTER_OTLP_PROTOCOL');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

/** An error that an exporter leaves uncaught loses spans; it must not end the host. */
function isolateExporter(exporter: SpanExporter): SpanExporter {
  const owner: ErrorOwner = { report: () => diag.error('uncaught error of the exporter') };
  return {
    export: (spans, onResult) => runAs(owner, () => exporter.export(spans, onResult)),
    shutdown: () => runAs(owner, () => exporter.shutdown()),
  };
}

/** The SDK does not check these sizes: below 1, it exports empty batches in an endless loop. */
function createBatchProcessor(exporter: SpanExporter): BatchSpanProcessor {
  const isTooSmall = (name: string) => Number(process.env[name]) < 1;
  return new BatchSpanProcessor(exporter, {
    ...(isTooSmall('OTEL_BSP_MAX_QUEUE_SIZE') && { maxQueueSize: DEFAULT_QUEUE_SIZE }),
    ...(isTooSmall('OTEL_BSP_MAX_EXPORT_BATCH_SIZE') && { maxExportBatchSize: DEFAULT_BATCH_SIZE }),
  });
}

/** Logs `message` alone: the SDK's own messages may hold the URL and headers of the receiver. */
function setDiagLogger(log: Log, message: string): void {
  const mayWarn = createLogInterval(WARN_INTERVAL_MS);
  const warn = () => {
    if (mayWarn()) log.warn({}, message);
  };
  const ignore = () => {};
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
