import type { SurfaceFactory } from '../contract/index.js';
import type { FakeSurfaceContextOptions } from './fakes/fake-surface-context.js';

/** A request of a client to a surface. */
export interface SurfaceRequest extends RequestInit {
  /** The path below the prefix, with its slash. Default empty. */
  readonly path?: string;
}

/** A surface and what the suite needs to test it. */
export interface SurfaceSubject {
  /** The surface under test. */
  // biome-ignore lint/suspicious/noExplicitAny: config types differ from surface to surface
  readonly surface: SurfaceFactory<any>;
  /** A valid config. Default `{}`. */
  readonly config?: unknown;
  /** The host of the surface: references, responses, actors, modules. */
  readonly host?: FakeSurfaceContextOptions;
  /**
   * Requests with which an agent calls an operation that `host.snapshot` lists. The suite sends each as a
   * caller without scopes. Default: none, for a surface that is not for agents.
   */
  readonly operationCalls?: readonly SurfaceRequest[];
  /** Clauses that do not apply, by id, with the reason. Default none. */
  readonly except?: Readonly<Record<string, string>>;
  /** How long a clause waits for each step. Milliseconds, default 30,000. */
  readonly timeoutMs?: number;
}

/** Checks the types of a subject. */
export function defineSurfaceSubject(subject: SurfaceSubject): SurfaceSubject {
  return subject;
}
