const MASK = '[redacted]';

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
