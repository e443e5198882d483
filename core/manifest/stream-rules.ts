import type { RouteOperation, StreamForm } from '../contract/index.js';

/** The media types of providers that count as a stream of each form; the first is what callers ask for. */
export const STREAM_TYPES = {
  sse: ['text/event-stream'],
  ndjson: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'],
} as const satisfies Readonly<Record<StreamForm, readonly string[]>>;

/** What the stream of a route may be. */
export interface StreamRules {
  readonly form: StreamForm;
  /** What callers ask for, and get in the envelope's mode. */
  readonly mediaType: string;
  /** Media types of the provider. */
  readonly types: readonly string[];
}

/** `null` for a route that answers with one body. */
export function streamRulesOf({ stream, stream_types }: RouteOperation = {}): StreamRules | null {
  if (stream === undefined) return null;
  const [mediaType] = STREAM_TYPES[stream];
  return { form: stream, mediaType, types: stream_types ?? STREAM_TYPES[stream] };
}
