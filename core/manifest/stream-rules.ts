import type { EventForm, ManifestRoute, RouteOperation } from '../contract/index.js';

/** The provider's media types for each form of stream; clients request the first one. */
export const STREAM_TYPES = {
  sse: ['text/event-stream'],
  ndjson: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'],
} as const satisfies Readonly<Record<EventForm, readonly string[]>>;

export interface StreamRules {
  readonly form: EventForm;
  /** The media type that clients request, and receive in envelope mode. */
  readonly mediaType: string;
  /** Media types of the provider. */
  readonly types: readonly string[];
  /** Whether the response may be JSON as well. */
  readonly isOptional: boolean;
}

/** Returns `null` for a route with a single body, and for a WebSocket. */
export function streamRulesOf(operation: RouteOperation = {}): StreamRules | null {
  const { stream, stream_types, stream_optional: isOptional = false } = operation;
  if (stream === undefined || stream === 'websocket') return null;
  const [mediaType] = STREAM_TYPES[stream];
  return { form: stream, mediaType, types: stream_types ?? STREAM_TYPES[stream], isOptional };
}

export function isWebSocket({ operation }: Pick<ManifestRoute, 'operation'>): boolean {
  return operation?.stream === 'websocket';
}

/** `GET /items`, or `GET /items as a WebSocket`, which may stand beside it. */
export function nameRoute(
  route: Pick<ManifestRoute, 'path' | 'operation'> & { readonly method: string },
): string {
  return `${route.method} ${route.path}${isWebSocket(route) ? ' as a WebSocket' : ''}`;
}
