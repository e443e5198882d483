const MASK = '[redacted]';

/** What stands between `://` and an `@`, in JSON with escaped slashes too. */
const USER = /(:(?:\\?\/){2})[^\s"'<>/?#\\]*@/g;
/** A password with a slash is not a valid URL, but can stand in a file that is rejected. Not the number of a port. */
const PASSWORD_WITH_SLASH = /(:(?:\\?\/){2}[^\s"'<>/?#@:]*:)(?!\d+[/?#])[^\s"'<>]*@/g;

/** Replaces names and passwords in URLs. */
export function maskUrlPasswords(text: string): string {
  return text.replace(USER, `$1${MASK}@`).replace(PASSWORD_WITH_SLASH, `$1${MASK}@`);
}
