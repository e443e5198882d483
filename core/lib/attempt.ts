/** Runs work that may fail; returns `null` if it failed and the failure was reported. */
export type Attempt = <T>(work: () => T | Promise<T>) => Promise<T | null>;

/** Throws the first failure instead of reporting it. */
export const attemptOrThrow: Attempt = async (work) => work();
