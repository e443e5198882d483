/**
 * Characters that people do not see, or that change the order of others: controls but tab and line feed, format
 * characters, and the tags with which text for models is hidden.
 */
const INVISIBLE = /[^\P{C}\t\n]|[\p{DI}\p{Zl}\p{Zp}]|\u2800/gu;

/** Text of a module with each character that nobody sees replaced, at most this long. */
export function toVisible(text: string, maxLength: number): string {
  const visible = text.replace(INVISIBLE, '\ufffd');
  return visible.length <= maxLength
    ? visible
    : `${visible.slice(0, maxLength - 1).toWellFormed()}…`;
}
