import type { EventForm, ManifestRoute, RouteOperation } from '../contract/index.js';

/** The media types of providers that count as a stream of each form; the first is what callers ask for. */
export const STREAM_TYPES = {
  sse: ['text/event-stream'],
  ndjson: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'],
} as const satisfies Readonly<Record<EventForm, readonly string[]>>;

/** What the stream of events of a route may be. */
export interface StreamRules {
  readonly form: EventForm;
  /** What callers ask for, and get in the envelope's mode. */
  readonly mediaType: string;
  /** Media types of the provider. */
  readonly types: readonly string[];
}

/** `null` for a route that answers with one body, or is a WebSocket. */
export function streamRulesOf({ stream, stream_types }: RouteOperation = {}): StreamRules | null {
  if (stream === undefined || stream === 'websocket') return null;
  const [mediaType] = STREAM_TYPES[stream];
  return { form: stream, mediaType, types: stream_types ?? STREAM_TYPES[stream] };
}

export function isWebSocket({ operation }: Pick<ManifestRoute, 'operation'>): boolean {
  return operation?.stream === 'websocket';
}
