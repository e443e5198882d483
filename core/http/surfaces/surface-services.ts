import type { AuthFailures } from '../../auth/auth-failures.js';
import type { CheckedAuthenticator, Rejected } from '../../auth/checked-authenticator.js';
import type { HostApi, Log } from '../../contract/index.js';
import type { Mask } from '../../lib/secrets/mask-secrets.js';
import type { ActorRate } from '../../operations/rate-limit.js';
import type { Client } from '../../operations/request.js';
import type { Store } from '../../store/store.js';
import type { KnownActor } from './host-actors.js';
import type { InProcessServer } from './in-process-request.js';
import type { PlaceLimits } from './surface-places.js';

/** The services of the host for surfaces. */
export interface SurfaceServices {
  readonly log: Log;
  readonly chain: readonly CheckedAuthenticator[];
  /** `null` for no limit. */
  readonly authFailures: AuthFailures | null;
  readonly issuers: readonly string[];
  /** `null` for no limit. */
  readonly actorRate: ActorRate | null;
  readonly store: Pick<Store, 'surfaceRecords'>;
  readonly server: InProcessServer;
  readonly resources: HostApi['resources'];
  readonly modules: Pick<HostApi, 'snapshot' | 'onChange'>;
  /** Default `DEFAULT_LIMITS`. */
  readonly limits?: SurfaceLimits;
}

export interface SurfaceLimits extends PlaceLimits {
  /** The time limit of `open`. Milliseconds. */
  readonly openMs: number;
  /** The time limit of a response, after which the host responds instead. Milliseconds. */
  readonly responseMs: number;
}

/** Information about a request that the surface collects for the host. */
export interface SurfaceRequest {
  /** `null` if it is unknown. */
  readonly client?: Client | null;
  /** Removes the credentials in its head from a text; absent without any. */
  readonly mask?: Mask;
  /** The reason why its credentials were rejected; `null` otherwise. */
  rejected?: Rejected;
  /** Whether a later request of the host was rejected, whose record has the reason. */
  isExplained?: boolean;
  /** Authenticates the credentials of its actor again; absent without an actor. */
  reauthenticate?: KnownActor['reauthenticate'];
}

export const DEFAULT_LIMITS: SurfaceLimits = {
  openMs: 5000,
  responseMs: 30_000,
  calls: 1000,
  callsOfNetwork: 100,
};
