import fc from 'fast-check';

export interface Fuzzing {
  /** How long, about. */
  readonly seconds: number;
  /** The same seed tries the same texts in the same order. */
  readonly seed: number;
}

const MS_PER_SECOND = 1000;

/**
 * Tries values until the time is over. A failure is shrunk for as long as there is time.
 * @throws with the seed and the least value that failed.
 */
export async function tryFor<T>(
  { seconds, seed }: Fuzzing,
  values: fc.Arbitrary<T>,
  attempt: (value: T) => Promise<void>,
): Promise<void> {
  await fc.assert(fc.asyncProperty(values, attempt), {
    seed,
    numRuns: Number.MAX_SAFE_INTEGER,
    includeErrorInReport: true,
    interruptAfterTimeLimit: seconds * MS_PER_SECOND,
  });
}

/** Bytes so that they can be read, and pasted into a test: latin-1, everything else escaped. */
export function quoteBytes(bytes: Uint8Array): string {
  return JSON.stringify(Buffer.from(bytes).toString('latin1')).replaceAll(
    /[\x7f-\xff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
