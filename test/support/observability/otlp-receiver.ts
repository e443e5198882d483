import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { decodeExport, type KeyValue, type WireExport } from './otlp-wire.js';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  /** 2 is a server span, 3 a client span. */
  readonly kind: number;
  readonly startedAt: bigint;
  readonly endedAt: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 2 is an error. */
  readonly statusCode: number;
  readonly resource: Readonly<Record<string, unknown>>;
}

interface ReceivedExport {
  /** `POST /v1/traces application/json` */
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  /** The bodies as received, after decompression. */
  readonly body: Buffer;
}

/** Responds with success, with an error, or never. */
type ReceiverMode = 'accepts' | 'fails' | 'hangs';

export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly exports: readonly ReceivedExport[];
  /** Applies immediately. Hanging exports fail when the mode changes. */
  mode: ReceiverMode;
  close(): Promise<void>;
}

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/x-protobuf';

/** Receives OTLP over HTTP, both encodings: https://opentelemetry.io/docs/specs/otlp/#otlphttp */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const exports: ReceivedExport[] = [];
  let mode: ReceiverMode = 'accepts';
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const type = request.headers['content-type'] ?? '';
      const body = unpack(Buffer.concat(chunks), request.headers['content-encoding']);
      exports.push({
        line: `${request.method} ${request.url} ${type}`,
        headers: request.headers,
        body,
      });
      if (mode === 'hangs') return;
      if (mode === 'accepts') spans.push(...listSpans(decodeBody(type, body)));
      response.writeHead(mode === 'accepts' ? 200 : 503, { 'content-type': type });
      response.end(type === JSON_TYPE ? '{}' : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    exports,
    get mode() {
      return mode;
    },
    set mode(next) {
      mode = next;
      server.closeAllConnections();
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function unpack(body: Buffer, encoding: string | undefined): Buffer {
  return encoding === 'gzip' ? gunzipSync(body) : body;
}

function decodeBody(type: string, body: Buffer): WireExport {
  if (type === JSON_TYPE) return JSON.parse(body.toString()) as WireExport;
  if (type === PROTOBUF_TYPE) return decodeExport(body);
  throw new Error(`an export of the type ${type}`);
}

function listSpans({ resourceSpans }: WireExport): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        traceState: span.traceState ?? '',
        name: span.name,
        kind: span.kind,
        startedAt: BigInt(span.startTimeUnixNano),
        endedAt: BigInt(span.endTimeUnixNano),
        attributes: readAttributes(span.attributes ?? []),
        statusCode: span.status?.code ?? 0,
        resource: readAttributes(resource.attributes),
      })),
    ),
  );
}

function readAttributes(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
