import { ConfigError } from '../errors.js';
import {
  DEFAULT_CHALLENGES,
  DEFAULT_READS,
  type Declaration,
} from '../lib/authenticator-declaration.js';

export const BASIC_CHALLENGE = 'Basic realm="modgate"';

/** The headers that hold credentials, in the order of the chain; the default for an empty chain. */
export function listCredentialHeaders(chain: readonly Declaration[]): readonly string[] {
  const names = new Set(chain.flatMap(({ reads }) => reads));
  return names.size === 0 ? DEFAULT_READS : [...names];
}

/**
 * The challenges of a 401. Never empty, since a 401 requires a challenge (RFC 9110, section
 * 15.5.2).
 * @param takesBasic whether tokens are also passwords of `authorization: Basic`
 */
export function listChallenges(
  chain: readonly Declaration[],
  takesBasic: boolean,
): readonly string[] {
  const challenges = new Set(chain.flatMap((declared) => declared.challenges));
  const listed = challenges.size === 0 ? DEFAULT_CHALLENGES : [...challenges];
  return takesBasic ? [BASIC_CHALLENGE, ...listed] : listed;
}

/**
 * The values of `www-authenticate`. With passwords they are one line that begins with `Basic`:
 * clients of container registries read only the first challenge of a line, and fail at a `Bearer`
 * without a realm.
 */
export function writeChallenges(challenges: readonly string[]): readonly string[] {
  return challenges[0] === BASIC_CHALLENGE ? [challenges.join(', ')] : challenges;
}

/** @throws ConfigError if no authenticator accepts such tokens, or another one reads `Basic`. */
export function assertBasicUsable(chain: readonly Declaration[]): void {
  if (chain.some(({ challenges }) => challenges.some((challenge) => /^basic\b/i.test(challenge)))) {
    throw new ConfigError(
      '--token-basic takes authorization: Basic, which an authenticator of this host takes too: remove one of them',
    );
  }
  if (chain.some(({ reads }) => reads.includes('authorization'))) return;
  throw new ConfigError(
    '--token-basic requires an authenticator that reads authorization: name a tokens file with --tokens FILE',
  );
}
