/**
 * Matches invisible characters, and those that change the order of others: controls except tab and
 * line feed, format characters, and the tags that hide text for models.
 */
const INVISIBLE = /[^\P{C}\t\n]|[\p{DI}\p{Zl}\p{Zp}]|\u2800/gu;

/** Replaces each invisible character in a text of a module, and shortens the text to `maxLength`. */
export function toVisible(text: string, maxLength: number): string {
  const visible = text.replace(INVISIBLE, '\ufffd');
  return visible.length <= maxLength
    ? visible
    : `${visible.slice(0, maxLength - 1).toWellFormed()}…`;
}
