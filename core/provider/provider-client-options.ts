import type { Log, Provider, Secret } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { IdentitySigner } from '../identity/identity-keys.js';
import type { ErrorOwner } from '../isolation/error-owner.js';
import type { ModuleScope } from '../isolation/scope.js';
import type { KnownModule } from './known-module.js';
import type { LoadShedder } from './load-shedding.js';
import type { OpenStreams } from './open-streams.js';
import type { RateLimiters } from './rate-limiter.js';

export interface ProviderClientOptions {
  readonly provider: Provider;
  /** Whether the adapter streams. Default false. */
  readonly streams?: boolean;
  /** Whether the adapter opens WebSockets. Default false. */
  readonly upgrades?: boolean;
  readonly descriptor: Descriptor;
  readonly log: Log;
  /** Its closing ends the health checks. */
  readonly scope: Pick<ModuleScope, 'signal' | 'defer'>;
  /** The streams of events of the whole process. Default: of this client only. */
  readonly openStreams?: OpenStreams;
  /** Creates the rate limits. Default: for this process only. */
  readonly rates?: RateLimiters;
  /** Limits of the whole host; `null` if only those of the module apply. */
  readonly loadShedder: LoadShedder | null;
  /** Signs the actor for the provider; `null` does not sign. */
  readonly identity: IdentitySigner | null;
  /** Secrets that the host sends to the provider, and no failure may contain. Default: none. */
  readonly secrets?: readonly Secret[];
  /** Owner of errors in the provider's code. Default: the host. */
  readonly owner?: ErrorOwner | null;
  /** What earlier versions have learned. Default: nothing. */
  readonly known?: KnownModule;
  /** How the provider is called. Default: as by no other version. */
  readonly connection?: string;
}
