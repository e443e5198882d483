import type { SurfaceFactory } from '../contract/index.js';
import type { FakeSurfaceContextOptions } from './fakes/fake-surface-context.js';

/** A surface and what the suite needs to test it. */
export interface SurfaceSubject {
  /** The surface under test. */
  // biome-ignore lint/suspicious/noExplicitAny: config types differ from surface to surface
  readonly surface: SurfaceFactory<any>;
  /** A valid config. Default `{}`. */
  readonly config?: unknown;
  /** The host of the surface: references, responses, actors, modules. */
  readonly host?: FakeSurfaceContextOptions;
  /** Clauses that do not apply, by id, with the reason. Default none. */
  readonly except?: Readonly<Record<string, string>>;
  /** How long a clause waits for each step. Milliseconds, default 10,000. */
  readonly timeoutMs?: number;
}

/** Checks the types of a subject. */
export function defineSurfaceSubject(subject: SurfaceSubject): SurfaceSubject {
  return subject;
}
