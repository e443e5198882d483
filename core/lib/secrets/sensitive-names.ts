// Part of a name is enough (`x-api-key`, `accessToken`): losing a harmless value is better than keeping a secret.
const SENSITIVE =
  /authorization|cookie|passw(?:or)?d|passphrase|passcode|secret|token|api[-_]?key|private[-_]?key|credential|session|signature|bearer|cvv|cvc/i;
/** Words that are too short to be searched inside other words. */
const SENSITIVE_WORD = /(?:^|[^a-z])(?:pin|otp|pwd|jwt|sid|ssn)(?:[^a-z]|$)/i;
const WORD_START = /(?<=[a-z0-9])(?=[A-Z])/g;

/** Whether values under this name may be secrets. */
export function isSensitiveName(name: string): boolean {
  return SENSITIVE.test(name) || SENSITIVE_WORD.test(name.replace(WORD_START, ' '));
}
