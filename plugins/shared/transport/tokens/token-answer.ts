import { createTokenFailure } from './token-failure.js';

type Members = Readonly<Record<string, unknown>>;

/** Visible ASCII, which all servers parse alike. */
const TOKEN = /^[\x21-\x7e]+$/;
const BEARER = /^bearer(?:token)?$/i;
const SECONDS = /^\d{1,15}(?:\.\d{1,9})?$/;

/** The object in a text; `null` for anything else. */
export function parseMembers(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Members)
      : null;
  } catch {
    return null;
  }
}

/**
 * The members of a token response that are used (RFC 6749, section 5.1), in the form that
 * openid-client requires: many servers leave out or misspell what they should send, and members
 * that are not used must not fail a call.
 * @throws ProviderFailure that names the member.
 */
export function readTokenAnswer(members: Members | null): Members {
  if (members === null) throw createTokenFailure('protocol', 'response is not a JSON object');
  const { access_token: token, token_type: type, expires_in: lifetime } = members;
  if (token == null || token === '') {
    throw createTokenFailure('protocol', 'access_token is missing');
  }
  if (typeof token !== 'string' || !TOKEN.test(token)) {
    throw createTokenFailure('protocol', 'access_token is not visible ASCII');
  }
  if (type != null && type !== '' && !(typeof type === 'string' && BEARER.test(type))) {
    throw createTokenFailure('protocol', 'token_type is not bearer');
  }
  const answer = { access_token: token, token_type: 'bearer' };
  if (lifetime == null) return answer;
  const seconds = typeof lifetime === 'string' && SECONDS.test(lifetime) ? +lifetime : lifetime;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) {
    throw createTokenFailure('protocol', 'expires_in is not a number of seconds');
  }
  return { ...answer, expires_in: seconds };
}
