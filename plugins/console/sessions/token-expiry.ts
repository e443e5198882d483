const MS_PER_SECOND = 1000;

/**
 * When a signed token expires, in milliseconds since 1970; `null` for any other token. Only to end a session
 * in time: whether the token is valid, the authenticators decide.
 */
export function readTokenExpiry(token: string): number | null {
  const [, payload, , ...rest] = token.split('.');
  if (payload === undefined || rest.length > 0) return null;
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as {
      readonly exp?: unknown;
    };
    return typeof exp === 'number' && Number.isFinite(exp) ? exp * MS_PER_SECOND : null;
  } catch {
    return null;
  }
}
