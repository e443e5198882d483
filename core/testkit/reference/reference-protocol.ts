/**
 * A fault of a provider on the wire, injected by the transport:
 * - `malformed`: a response that violates the protocol of the transport
 * - `cut_short`: the connection ends before the announced length of the body
 * - `half_close`: the provider ends its side of the connection without a response and keeps the other open
 * - `reset`: the connection is reset without a response
 * - `trickle`: the response starts immediately, then sends one byte at a time and never ends
 * - `endless`: the head of a response without a length, then 100 bytes at a time without an end
 */
export type ReferenceFault =
  | 'malformed'
  | 'cut_short'
  | 'half_close'
  | 'reset'
  | 'trickle'
  | 'endless';

/** Every {@link ReferenceFault}. */
export const REFERENCE_FAULTS = [
  'malformed',
  'cut_short',
  'half_close',
  'reset',
  'trickle',
  'endless',
] as const satisfies readonly ReferenceFault[];

/** A request as it arrived at the provider's end of the transport. */
export interface ReferenceRequest {
  /** Upper case. */
  readonly method: string;
  /** The raw path and query, as they arrived. */
  readonly target: string;
  /** Names in lower case, values as they arrived. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes as they arrived; `null` or empty without a body. */
  readonly body: Uint8Array | null;
}

/** The response that the provider's end of the transport sends. */
export interface ReferenceAnswer {
  /** 200 to 599. */
  readonly status: number;
  /** Names in any case. A list is a header that is sent several times. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** `null`: no body, which some transports distinguish from an empty one. */
  readonly body: Uint8Array | null;
  /** If present, the transport injects this fault instead of sending the response. */
  readonly fault?: ReferenceFault;
}
