// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text of others as one line that a terminal shows and does not obey: control characters and those that
 * turn the direction of writing become `\u001b`.
 */
export function toPrintable(text: string): string {
  return text.replace(CONTROL, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
