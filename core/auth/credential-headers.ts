interface Declared {
  readonly reads: readonly string[];
  readonly challenges: readonly string[];
}

const DEFAULT_HEADERS: readonly string[] = ['authorization'];
const DEFAULT_CHALLENGES: readonly string[] = ['Bearer'];

/** The headers that hold credentials, in the order of the chain; for a chain without any, the default. */
export function listCredentialHeaders(chain: readonly Declared[]): readonly string[] {
  const names = new Set(chain.flatMap(({ reads }) => reads));
  return names.size === 0 ? DEFAULT_HEADERS : [...names];
}

/** What a 401 lists: never empty, since a 401 needs a challenge (RFC 9110, section 15.5.2). */
export function listChallenges(chain: readonly Declared[]): readonly string[] {
  const challenges = new Set(chain.flatMap((one) => one.challenges));
  return challenges.size === 0 ? DEFAULT_CHALLENGES : [...challenges];
}
