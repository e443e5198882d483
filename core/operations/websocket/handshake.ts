import type { HostError } from '../../errors.js';

/**
 * Chosen if the provider chooses no other one: browsers close a connection whose offers were all
 * ignored.
 */
export const OWN_PROTOCOL = 'modgate.v1';

/** The offers of a client that opens a WebSocket. */
export interface Handshake {
  readonly key: string;
  /** The subprotocols except those of the host. */
  readonly protocols: readonly string[];
  /** Whether the client offers the host's own subprotocol. */
  readonly takesOwn: boolean;
  readonly extensions: string | undefined;
  /** The reason why no WebSocket can be opened with these subprotocols; `null` for none. */
  readonly problem: HostError | null;
}
