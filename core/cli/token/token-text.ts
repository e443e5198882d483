import { isSeq, parseDocument } from 'yaml';
import { detectFormat } from '../../document/parse-document.js';
import type { TokenFileEntry } from './token-entry.js';

/** Edits the text of a valid tokens file. Keeps the comments of YAML. */
export interface TokenText {
  readonly entries: readonly TokenFileEntry[];
  add(entry: TokenFileEntry): string;
  remove(sha256s: ReadonlySet<string>): string;
}

/** @param text `null` for a new file */
export function readTokenText(file: string, text: string | null): TokenText {
  const isJson = detectFormat(file, text ?? '') === 'json';
  return isJson ? readJson(text) : readYaml(text);
}

function readJson(text: string | null): TokenText {
  const { tokens } = JSON.parse(text ?? '{"tokens":[]}') as { tokens: TokenFileEntry[] };
  const format = (next: readonly TokenFileEntry[]) =>
    `${JSON.stringify({ tokens: next }, null, 2)}\n`;
  return {
    entries: tokens,
    add: (entry) => format([...tokens, entry]),
    remove: (sha256s) => format(tokens.filter(({ sha256 }) => !sha256s.has(sha256))),
  };
}

function readYaml(text: string | null): TokenText {
  const document = parseDocument(text ?? 'tokens: []\n');
  const tokens = document.get('tokens');
  if (!isSeq(tokens)) throw new Error('a valid tokens file has a list of tokens');
  const entries = document.toJS().tokens as TokenFileEntry[];
  return {
    entries,
    add: (entry) => {
      tokens.flow = false;
      tokens.add(document.createNode(entry));
      return String(document);
    },
    remove: (sha256s) => {
      tokens.items = tokens.items.filter((_, index) => !sha256s.has(entries[index]?.sha256 ?? ''));
      return String(document);
    },
  };
}
