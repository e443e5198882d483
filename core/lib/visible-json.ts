/**
 * Matches invisible characters, and those that change the order of others: controls, format
 * characters, lone surrogates, and the tags that hide text for models.
 */
const INVISIBLE = /[^\P{C}\t\n\r]|[\p{DI}\p{Zl}\p{Zp}]|\u2800/gu;
const STRING = /"(?:[^"\\]|\\.)*"/g;

/** Returns the same JSON with escapes for all invisible characters. */
export function escapeInvisible(json: string): string {
  return json.replace(INVISIBLE, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Whether a JSON text contains invisible characters, literally or as escapes. */
export function hasInvisible(json: string): boolean {
  for (const [text] of json.matchAll(STRING)) {
    if (String(JSON.parse(text)).search(INVISIBLE) !== -1) return true;
  }
  return false;
}
