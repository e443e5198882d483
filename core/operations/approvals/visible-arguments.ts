import { escapeBlanks } from '../../contract/index.js';
import { canonicalizeText } from '../../lib/json/canonical-text.js';

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const INDENT = '  ';
/** Deeper levels would push the text out of view. */
const MAX_INDENT = 16;

/**
 * Arguments as a person reads them: the canonical text, one member a line, with escapes for
 * invisible characters and for all blanks but single spaces.
 */
export function showArguments(json: string) {
  const canonical = canonicalizeText(json);
  const tokens = canonical.match(TOKEN) ?? [];
  return {
    arguments: layOut(tokens),
    has_invisible: tokens.some(isChanged),
    members: tokens.filter((token) => token === ':').length,
    bytes: Buffer.byteLength(canonical),
  };
}

function layOut(tokens: readonly string[]): string {
  let text = '';
  let depth = 0;
  const newLine = () => `\n${INDENT.repeat(Math.min(depth, MAX_INDENT))}`;
  for (const [index, token] of tokens.entries()) {
    const isEmpty = /^[}\]]$/.test(tokens[index + 1] ?? '');
    if (token === '{' || token === '[') {
      depth += 1;
      text += isEmpty ? token : token + newLine();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      text += /^[{[]$/.test(tokens[index - 1] ?? '') ? token : newLine() + token;
    } else if (token === ',') text += token + newLine();
    else text += token === ':' ? ': ' : escapeBlanks(token);
  }
  return text;
}

/** Whether a text has characters that are shown as escapes. */
function isChanged(token: string): boolean {
  if (!token.startsWith('"')) return false;
  const value = String(JSON.parse(token));
  return escapeBlanks(value) !== value;
}
