const MASK = '[redacted]';
/** Text that may be base64, such as that of a Basic credential. */
const ENCODED = /[A-Za-z0-9+/_-]{4,}={0,2}/g;

/** Replaces the secrets, also inside base64. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return text;
  let masked = text;
  for (const secret of secrets) masked = masked.replaceAll(secret, MASK);
  return masked.replaceAll(ENCODED, (encoded) => {
    const decoded = Buffer.from(encoded, 'base64').toString();
    return secrets.some((secret) => decoded.includes(secret)) ? MASK : encoded;
  });
}

/** Matches the text between `://` and an `@`, in JSON with escaped slashes too. */
const USER = /(:(?:\\?\/){2})[^\s"'<>/?#\\]*@/g;
/**
 * Matches a password with a slash, which is invalid in a URL but may occur in a rejected file.
 * Excludes port numbers.
 */
const PASSWORD_WITH_SLASH = /(:(?:\\?\/){2}[^\s"'<>/?#@:]*:)(?!\d+[/?#])[^\s"'<>]*@/g;

/** Replaces names and passwords in URLs. */
export function maskUrlPasswords(text: string): string {
  return text.replace(USER, `$1${MASK}@`).replace(PASSWORD_WITH_SLASH, `$1${MASK}@`);
}
