import fc from 'fast-check';

export interface Fuzzing {
  /** The approximate duration. */
  readonly seconds: number;
  /** The same seed creates the same texts in the same order. */
  readonly seed: number;
}

const MS_PER_SECOND = 1000;

/**
 * Tests random values until the time is over. A failure is shrunk in the remaining time.
 * @throws an error with the seed and the smallest value that failed.
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

/** Quotes bytes as a latin-1 string literal that can be pasted into a test. */
export function quoteBytes(bytes: Uint8Array): string {
  return JSON.stringify(Buffer.from(bytes).toString('latin1')).replaceAll(
    /[\x7f-\xff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
