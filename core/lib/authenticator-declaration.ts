import type { Authenticator } from '../contract/index.js';
import { explainReservedHeader, isHeaderName } from './secrets/credential-header.js';

export interface Declaration {
  readonly reads: readonly string[];
  readonly challenges: readonly string[];
}

export const DEFAULT_READS: readonly string[] = ['authorization'];
export const DEFAULT_CHALLENGES: readonly string[] = ['Bearer'];
const MAX_READS = 16;
const MAX_CHALLENGES = 8;
/** A scheme, and parameters of printable ASCII (RFC 9110, section 11.6.1). */
const CHALLENGE = /^[A-Za-z][A-Za-z0-9._-]{0,63}(?: [\x20-\x7e]{1,255})?$/;

/**
 * The headers and challenges of an authenticator, with the defaults.
 * @throws Error for values that the host cannot use.
 */
export function readDeclaration({ reads, challenges }: Authenticator): Declaration {
  return {
    reads: readList('reads', reads ?? DEFAULT_READS, MAX_READS, explainHeader),
    challenges: readList(
      'challenges',
      challenges ?? DEFAULT_CHALLENGES,
      MAX_CHALLENGES,
      explainChallenge,
    ),
  };
}

function readList(
  member: string,
  list: unknown,
  max: number,
  explain: (entry: string) => string | null,
): readonly string[] {
  if (!Array.isArray(list) || list.length === 0 || list.length > max) {
    throw new Error(`'${member}' must be a list of 1 to ${max} entries`);
  }
  for (const [index, entry] of list.entries()) {
    const reason = typeof entry === 'string' ? explain(entry) : 'must be text';
    if (reason !== null) throw new Error(`'${member}[${index}]' ${reason}`);
  }
  return Object.freeze([...new Set(list as readonly string[])]);
}

function explainHeader(name: string): string | null {
  if (name !== name.toLowerCase() || !isHeaderName(name)) {
    return 'must be the name of a header in lower case';
  }
  return explainReservedHeader(name);
}

function explainChallenge(challenge: string): string | null {
  return CHALLENGE.test(challenge) ? null : 'must be a challenge such as Bearer or Basic realm="x"';
}
