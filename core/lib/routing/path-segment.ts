interface SegmentRule {
  /** Stable id in kebab-case: `dot-segment`. */
  readonly rule: string;
  readonly pattern: RegExp;
  readonly reason: string;
}

/** Matches texts that a server may interpret as `.` or `..`. */
const DOT_SEGMENT = /^\.{1,2}(?:;|$)/;

const SEGMENT_RULES: readonly SegmentRule[] = [
  { rule: 'empty-segment', pattern: /^$/, reason: 'is empty' },
  {
    rule: 'dot-segment',
    pattern: DOT_SEGMENT,
    reason: "is '.' or '..', or starts with one of them and ';'",
  },
];

/** The rules for percent-encoded segments, and for literals of a template. */
const ENCODED_RULES: readonly SegmentRule[] = [
  { rule: 'encoded-slash', pattern: /[/\\]/, reason: 'contains an encoded slash or backslash' },
  { rule: 'encoded-delimiter', pattern: /[?#]/, reason: "contains an encoded '?' or '#'" },
  {
    rule: 'control-character',
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
    pattern: /[\u0000-\u001f\u007f-\u009f]/,
    reason: 'contains an encoded control character',
  },
  { rule: 'double-encoding', pattern: /%[0-9A-Fa-f]{2}/, reason: 'is encoded twice' },
];

const DECODED_RULES = [...SEGMENT_RULES, ...ENCODED_RULES];

const REJECTED = joinPatterns(SEGMENT_RULES);
const REJECTED_DECODED = joinPatterns(DECODED_RULES);
const UNREACHABLE = joinPatterns(ENCODED_RULES);
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const NEVER_ENCODED = /[\\\u0000-\u001f\u007f-\u009f]/;
const ENCODED_BYTES = /(?:%[0-9A-Fa-f]{2})+/g;

function joinPatterns(rules: readonly SegmentRule[]): RegExp {
  return new RegExp(rules.map(({ pattern }) => pattern.source).join('|'));
}

/** Whether a segment of a request breaks a rule. */
export function isRejectedSegment(raw: string, decoded: string): boolean {
  return (decoded === raw ? REJECTED : REJECTED_DECODED).test(decoded);
}

/**
 * Whether a decoded segment that breaks a rule may be the value of an encoded parameter. The host
 * cannot know whether the provider splits the path there, or decodes it again, so neither may lead
 * outside.
 */
export function isEncodedValue(decoded: string): boolean {
  const decodedTwice = decoded.replaceAll(ENCODED_BYTES, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
  );
  return [decoded, decodedTwice].every(
    (text) => text !== '' && !NEVER_ENCODED.test(text) && !text.split('/').some(isDotSegment),
  );
}

/** Whether only encoded parameters accept the text. */
export function isUnreachable(text: string): boolean {
  return UNREACHABLE.test(text);
}

/** The first rule that a segment of a request breaks; `null` for none. */
export function findBrokenRule(raw: string, decoded: string): SegmentRule | null {
  const rules = decoded === raw ? SEGMENT_RULES : DECODED_RULES;
  return rules.find(({ pattern }) => pattern.test(decoded)) ?? null;
}

/** Visible ASCII without the characters that a URL parser rewrites or that end a path. */
const PLAIN_PATH = /^\/(?:[!$&'()*+,\-.0-9:;=@A-Z[\]_a-z~/]|%[0-9A-Fa-f]{2})*$/;

export function isDotSegment(text: string): boolean {
  return DOT_SEGMENT.test(text);
}

/** Whether a segment of a request can be this text after decoding. */
export function canBeSegment(text: string): boolean {
  return !REJECTED_DECODED.test(text) && text.isWellFormed();
}

/**
 * Whether the host can call the path unchanged: no query, no fragment, no dot segments, no
 * characters that a URL parser rewrites, and no `//`, after which a URL parser expects a host name.
 */
export function isPlainPath(text: string): boolean {
  if (!PLAIN_PATH.test(text) || text.includes('//')) return false;
  return !text.split('/').some((segment) => isDotSegment(segment.replaceAll(/%2e/gi, '.')));
}
