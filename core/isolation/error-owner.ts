import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The code to which an uncaught error is attributed: a version of a module, a plugin, an
 * authenticator. The host survives an error with an owner, and exits after any other.
 */
export interface ErrorOwner {
  /** Called with each uncaught error; must not throw. */
  readonly report: (error: unknown) => void;
}

const OWNERS = new AsyncLocalStorage<ErrorOwner>();

/** Runs third-party code. Timers and sockets that it creates inherit the owner. */
export function runAs<T>(owner: ErrorOwner | null, work: () => T): T {
  return owner === null ? work() : OWNERS.run(owner, work);
}

/** The owner of the code that runs now or has just thrown; `null` for the host's own code. */
export function findErrorOwner(): ErrorOwner | null {
  return OWNERS.getStore() ?? null;
}
