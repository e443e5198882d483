/** Runs work that may fail; `null` where it failed and the failure was reported. */
export type Attempt = <T>(work: () => T | Promise<T>) => Promise<T | null>;

/** Reports nothing: the first failure is thrown. */
export const attemptOrThrow: Attempt = async (work) => work();
