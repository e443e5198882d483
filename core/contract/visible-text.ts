/**
 * Matches invisible characters, and those that change the order of others: controls except tab and
 * line ends, format characters, lone surrogates, and the tags that hide text for models.
 */
const INVISIBLE = /[^\P{C}\t\n\r]|[\p{DI}\p{Zl}\p{Zp}]|\u2800/gu;
const LAYOUT = /[\t\n\r]/g;
/** Blanks that look like a single space, or like nothing, and push other text away. */
const BLANKS = / {2,}|[^\P{Zs} ]/gu;

/**
 * Escapes characters that people do not see, such as `\u200b`, in a text that others wrote. Use it
 * for whatever people, models and terminals read. Tabs and line ends stay as they are.
 */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, escapeCharacters);
}

/** Like `escapeInvisible`, with tabs and line ends, so that the text stays on one line. */
export function escapeLine(text: string): string {
  return escapeInvisible(text).replace(LAYOUT, escapeCharacters);
}

/** Like `escapeLine`, with all blanks but single spaces, for what a person approves. */
export function escapeBlanks(text: string): string {
  return escapeLine(text).replace(BLANKS, escapeCharacters);
}

/** Writes each UTF-16 unit as in JSON: `\u200b`. */
function escapeCharacters(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    return `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
