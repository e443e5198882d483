import { isDeepStrictEqual } from 'node:util';
import { isNode, parseDocument } from 'yaml';

/** Replaces one value of a YAML text, and keeps all other characters where that is possible. */
export function replaceInYaml(text: string, path: readonly string[], value: unknown): string {
  const document = parseDocument(text);
  const node = document.getIn(path, true);
  document.setIn(path, value);
  const replaced = isNode(node) && node.range ? replaceRange(text, node.range, value) : null;
  const isRight =
    replaced !== null && isDeepStrictEqual(parseDocument(replaced).toJS(), document.toJS());
  return isRight ? replaced : document.toString({ lineWidth: 0 });
}

function replaceRange(
  text: string,
  [start, end]: readonly [start: number, end: number, ...others: number[]],
  value: unknown,
): string {
  // A list with an item a line starts on the line after its key, and ends with its line.
  const before = text.slice(0, start).replace(/:\s*\n\s*$/, ': ');
  const [lineEnd = ''] = /\s*$/.exec(text.slice(start, end)) ?? [];
  return `${before}${JSON.stringify(value)}${lineEnd}${text.slice(end)}`;
}
