import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Who answers for an error that nobody caught: a version of a module, a plugin, an authenticator. Where
 * there is one the host goes on; an error of the host's own ends it.
 */
export interface ErrorOwner {
  /** Told of each such error; must not throw. */
  readonly report: (error: unknown) => void;
}

const OWNERS = new AsyncLocalStorage<ErrorOwner>();

/** Runs code that is not the host's own: what it starts, timers and sockets among it, keeps the owner. */
export function runAs<T>(owner: ErrorOwner | null, work: () => T): T {
  return owner === null ? work() : OWNERS.run(owner, work);
}

/** Whose code runs now, or threw just now; `null` for the host's own. */
export function findErrorOwner(): ErrorOwner | null {
  return OWNERS.getStore() ?? null;
}

/** What may be said of somebody's error where ops look: the log alone has its message. */
export function nameError(error: unknown): string {
  if (!(error instanceof Error)) return 'something that is no error';
  const { code } = error as NodeJS.ErrnoException;
  const name = /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(error.name) ? error.name : 'Error';
  const isPlainCode = typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code);
  return isPlainCode ? `${name} (${code})` : name;
}
