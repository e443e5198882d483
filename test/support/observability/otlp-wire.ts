import { type ProtobufFields, readProtobuf } from './protobuf-fields.js';

/** The JSON form of https://github.com/open-telemetry/opentelemetry-proto: trace/v1/trace.proto. */
export interface WireExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

export interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly status?: { readonly code?: number };
}

/** Decodes a protobuf `ExportTraceServiceRequest` into its JSON form. */
export function decodeExport(body: Buffer): WireExport {
  return {
    resourceSpans: readProtobuf(body)
      .messages(1)
      .map((ofResource) => ({
        resource: { attributes: ofResource.messages(1).flatMap((field) => decodePairs(field, 1)) },
        scopeSpans: ofResource
          .messages(2)
          .map((ofScope) => ({ spans: ofScope.messages(2).map(decodeSpan) })),
      })),
  };
}

function decodeSpan(span: ProtobufFields): WireSpan {
  return {
    traceId: span.hex(1),
    spanId: span.hex(2),
    traceState: span.text(3),
    parentSpanId: span.hex(4),
    name: span.text(5),
    kind: Number(span.integer(6)),
    startTimeUnixNano: String(span.integer(7)),
    endTimeUnixNano: String(span.integer(8)),
    attributes: decodePairs(span, 9),
    status: { code: Number(span.messages(15)[0]?.integer(3) ?? 0n) },
  };
}

function decodePairs(message: ProtobufFields, field: number): KeyValue[] {
  return message
    .messages(field)
    .map((pair) => ({ key: pair.text(1), value: decodeValue(pair.messages(2)[0]) }));
}

function decodeValue(value: ProtobufFields | undefined): Record<string, unknown> {
  if (value === undefined) return {};
  if (value.has(1)) return { stringValue: value.text(1) };
  if (value.has(2)) return { boolValue: value.integer(2) !== 0n };
  if (value.has(3)) return { intValue: Number(BigInt.asIntN(64, value.integer(3))) };
  if (value.has(4)) return { doubleValue: value.double(4) };
  throw new Error('a value of a kind that the host does not use');
}
