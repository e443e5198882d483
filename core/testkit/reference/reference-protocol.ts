/**
 * What a provider can do wrong on the wire. The transport carries it out, since an answer cannot tell it:
 * - `malformed`: an answer that breaks the rules of the transport
 * - `cut_short`: the answer begins, with a body that is announced longer than it is, and the connection ends
 * - `half_close`: the provider ends its side of the connection before any answer, and keeps the other open
 * - `reset`: the connection is reset before any answer
 * - `trickle`: the answer begins at once and then comes a byte at a time, without an end
 */
export type ReferenceFault = 'malformed' | 'cut_short' | 'half_close' | 'reset' | 'trickle';

/** Every {@link ReferenceFault}. */
export const REFERENCE_FAULTS = [
  'malformed',
  'cut_short',
  'half_close',
  'reset',
  'trickle',
] as const satisfies readonly ReferenceFault[];

/** What has arrived at the provider's end of a transport. */
export interface ReferenceRequest {
  /** In upper case. */
  readonly method: string;
  /** The raw path and the raw query, as they arrived. */
  readonly target: string;
  /** Lower-case names; as they arrived otherwise. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes as they arrived; `null` or empty when there were none. */
  readonly body: Uint8Array | null;
}

/** What the provider's end of a transport is to send back. */
export interface ReferenceAnswer {
  /** 200 to 599. */
  readonly status: number;
  /** Names in any case; a list is a header that is sent several times. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** `null`: no body, not even an empty one where the transport knows the difference. */
  readonly body: Uint8Array | null;
  /** Present: nothing of the answer counts, this is to happen instead. */
  readonly fault?: ReferenceFault;
}
