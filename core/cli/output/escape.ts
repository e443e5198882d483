import { escapeInvisible, escapeLine as toPrintable } from '../../contract/index.js';

/** For a text of others within a line that a command prints. */
export { toPrintable };

/** For all that a command prints, so that no text of others can control the terminal. */
export function toTerminal(text: string): string {
  return escapeInvisible(text).replaceAll('\r', toPrintable);
}

/** Escapes lines that others may have written. Blocks are separated by an empty line. */
export function formatBlocks(...blocks: readonly (readonly string[])[]): string {
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.map(toPrintable).join('\n')}\n`)
    .join('\n');
}
