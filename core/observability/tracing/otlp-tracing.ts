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
import { settleWithin } from '../../lib/promises.js';
import type { OtlpProtocol } from './otlp-environment.js';
import { beginRequestSpan, type Tracing } from './request-span.js';

const CLOSE_TIMEOUT_MS = 1000;
/** A receiver that is down says so at every batch. */
const WARN_INTERVAL_MS = 60_000;

/** The SDK, which reads the rest of the variables `OTEL_*` itself: sampler, batches, headers, time-outs. */
export async function createOtlpTracing(
  protocol: OtlpProtocol,
  version: string,
  log: Log,
): Promise<Tracing> {
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'modgate', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(await createExporter(protocol))],
  });
  // Not before: from here on it speaks of the receiver alone.
  diag.setLogger(createDiagLogger(log), {
    logLevel: DiagLogLevel.WARN,
    suppressOverrideMessage: true,
  });
  const tracer = provider.getTracer('modgate', version);
  return {
    begin: (request) => beginRequestSpan(tracer, request),
    // A receiver that hangs or fails costs its spans, not the end of the host.
    close: () => settleWithin(provider.shutdown(), CLOSE_TIMEOUT_MS),
  };
}

async function createExporter(protocol: OtlpProtocol): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

/** What the SDK says may hold the URL and headers of the receiver, so none of it is repeated. */
function createDiagLogger(log: Log) {
  let warnedAt = Number.NEGATIVE_INFINITY;
  const warn = () => {
    const now = performance.now();
    if (now - warnedAt < WARN_INTERVAL_MS) return;
    warnedAt = now;
    log.warn({}, 'traces are lost: the receiver of OTEL_EXPORTER_OTLP_ENDPOINT does not take them');
  };
  const ignore = () => {};
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
}
