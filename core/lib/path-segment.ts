// What a decoded segment of a request can never hold (contract 1.2).
const UNREACHABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
  /[/\\?#\u0000-\u001f\u007f-\u009f]|%[0-9A-Fa-f]{2}/u;
const DOT_SEGMENT = /^\.{1,2}(?:;|$)/;

/** Whether it is read as `.` or `..`, which no segment of a request may be. */
export function isDotSegment(text: string): boolean {
  return DOT_SEGMENT.test(text);
}

/** Whether a request can have a segment that is this text once it is decoded. */
export function canBeSegment(text: string): boolean {
  return text !== '' && !isDotSegment(text) && !UNREACHABLE.test(text) && text.isWellFormed();
}
