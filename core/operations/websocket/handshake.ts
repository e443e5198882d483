import type { HostError } from '../../errors.js';

/** Chosen where the provider chooses no other one: browsers close a connection whose offers were all ignored. */
export const OWN_PROTOCOL = 'modgate.v1';

/** What a client offers when it opens a WebSocket. */
export interface Handshake {
  readonly key: string;
  /** The subprotocols beside those of the host. */
  readonly protocols: readonly string[];
  /** Whether the client offers the host's own subprotocol. */
  readonly takesOwn: boolean;
  readonly extensions: string | undefined;
  /** Why no WebSocket can be opened with these subprotocols; `null` for no reason. */
  readonly problem: HostError | null;
}
