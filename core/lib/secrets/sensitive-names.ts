// Part of a name is enough (`x-api-key`, `accessToken`): losing a harmless value is better than keeping a secret.
const SENSITIVE =
  /authorization|cookie|passw(?:or)?d|passphrase|passcode|secret|token|api[-_]?key|private[-_]?key|credential|session|signature|bearer|cvv|cvc/i;
/** Words that are too short to be searched inside other words. */
const SENSITIVE_WORD = /(?:^|[^a-z])(?:pin|otp|pwd|jwt|sid|ssn)(?:[^a-z]|$)/i;
/** Names of settings alone (`API_KEYS`, `SSHPASS`): logs and bodies have many harmless names with these words. */
const SETTING =
  /auth(?!or(?!iz))|(?:jwt|(?<!don|hoc|joc|lac|mic|mon|tur|whis)key|pwd|(?<!by|com)pass|(?<![a-z])(?:cred|pat|salt))s?\d*(?![a-z])/i;
const WORD_START = /(?<=[a-z0-9])(?=[A-Z])/g;

/** Names of measures, whose values are numbers (`MAX_TOKENS`, `SESSION_TIMEOUT`), and values of switches. */
const MEASURE = /(?:^|[^a-z])(?:max|min|limit|count|size|length|timeout|ttl)(?:[^a-z]|$)/i;
const SWITCH = /^(?:true|false|yes|no|on|off)$/i;

/** HTTP credentials, a JWT, a key in PEM, a URL with a password. */
const SENSITIVE_VALUE =
  /^(?:bearer|basic|digest|negotiate)\s+\S|\beyJ[\w-]+\.[\w-]+\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY|\w:\/\/[^\s/:@]*:[^\s/@]+@/i;
/** A user, whose name may be a token, or a password, which may have any character, before a host. */
const USER_OF_HOST = /(?::|\/\/)\S*(?:@|%40)|@[\w.-]+:\d/;
/** The names of members: `Password=…`, `{"password":…}`, `authorization: …`. */
const MEMBER = /(?<![\w.-])([\w.-]+)(?:\s*=|["']\s*:|:\s)/g;

/** Whether values under this name may be secrets. */
export function isSensitiveName(name: string): boolean {
  return SENSITIVE.test(name) || SENSITIVE_WORD.test(name.replace(WORD_START, ' '));
}

/** Whether a text has the form of credentials, under any name. */
export function isSensitiveValue(text: string): boolean {
  return SENSITIVE_VALUE.test(text);
}

/** Whether a setting may be a secret, by its name or its value. */
export function mayBeSecret(name: string, value: string): boolean {
  if (SWITCH.test(value) || (isMeasure(name) && /^\d+$/.test(value))) return false;
  if (isSecretSetting(name) || isSensitiveValue(value) || USER_OF_HOST.test(value)) return true;
  return [...value.matchAll(MEMBER)].some(([, member = '']) => isSecretSetting(member));
}

function isMeasure(name: string): boolean {
  return MEASURE.test(name.replace(WORD_START, ' '));
}

function isSecretSetting(name: string): boolean {
  return isSensitiveName(name) || SETTING.test(name.replace(WORD_START, ' '));
}
