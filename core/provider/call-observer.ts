import type { Log, Manifest, Provider } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { PreparedProvider } from '../descriptor/section.js';
import type { IdentitySigner } from '../identity/identity-keys.js';
import type { ErrorOwner } from '../isolation/error-owner.js';
import type { ModuleScope } from '../isolation/scope.js';
import type { HeldMemory } from './held-memory.js';
import type { CheckedOutcome } from './outcome.js';
import type { ProviderCall } from './provider-call.js';

/** A request of JSON, whose body and answer are held. */
export interface ObservedRequest {
  /** `GET /items/{id}` */
  readonly route: string;
  /** The method of the caller: HEAD stays HEAD. */
  readonly method: string;
  readonly held: HeldMemory;
}

/** Gets the calls of a serving version with their answers. It must not delay them. */
export interface CallObserver {
  /** @returns what gets each call of the request that is answered; `null` for a request that it ignores */
  observe(request: ObservedRequest): ((call: ProviderCall, outcome: CheckedOutcome) => void) | null;
}

/** A version of a module whose provider is open. */
export interface ObservedVersion {
  readonly descriptor: Descriptor;
  readonly furtherProviders: readonly PreparedProvider[];
  readonly streams: boolean;
  readonly provider: Provider;
  readonly identity: IdentitySigner;
  readonly log: Log;
  /** The owner of errors in the code of the adapter; `null` for the host's own code. */
  readonly owner: ErrorOwner | null;
  readonly scope: ModuleScope;
  /** Opens a further provider like the live one. @throws the errors of the adapter */
  openFurther(provider: PreparedProvider): Promise<Provider>;
}

/** Creates the observer for a manifest, and closes the previous one. */
export type ObserverFactory = (manifest: Manifest) => CallObserver;

/** Opens what observes the calls of a version. */
export interface ObserverSource {
  /** @returns `null` for a version that nothing observes */
  open(version: ObservedVersion): Promise<ObserverFactory | null>;
}
