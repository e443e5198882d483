import { type ToolSource, wordsOf } from './tool-source.js';

/** Longer than any question, and short enough to be split at once. Characters. */
const MAX_TEXT = 4096;
/** Shorter words, such as `id`, match only as a whole. */
const MIN_STEM = 4;
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about all an and any are as at be by can could do does for from have how i in is it me my need
  of on or our please some that the their them there these this to tool tools us use using want was
  we what when where which who will with would you your`.split(/\s+/),
);

/** The words of an operation by their weight. */
export type SearchWords = readonly (readonly [weight: number, words: readonly string[]])[];

/** The words of a module and its operations, without those of the host. */
export function listSearchWords({ module, operation, target }: ToolSource): SearchWords {
  const { summary = '', description = '' } = wordsOf(target);
  const { tags = [], operation: declared } = target.kind === 'route' ? target.route : {};
  const names = operation.arguments.flatMap(({ name, wireName }) => [name, wireName]);
  const members = Object.keys(Object(Object(declared?.input_schema)['properties']));
  const fields = target.kind === 'action' ? (target.action.input_schema?.fields ?? []) : [];
  const labels = fields.flatMap(({ name, label = '' }) => [name, label]);
  return [
    [4, divide([module, operation.id, operation.name, operation.tool?.name ?? ''].join(' '))],
    [3, divide([operation.tool?.description ?? '', summary, ...tags].join(' '))],
    [1, divide([...names, ...members, ...labels, description].join(' '))],
  ];
}

/** The sum of the weights of those words that are found. */
export function scoreOf(weighted: SearchWords, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const match = weighted.find(([, known]) => known.some((other) => isSame(word, other)));
    score += match?.[0] ?? 0;
  }
  return score;
}

/** Whether one word is a prefix of the other, such as `parcel` of `parcels`. */
function isSame(a: string, b: string): boolean {
  if (a === b) return true;
  return Math.min(a.length, b.length) >= MIN_STEM && (a.startsWith(b) || b.startsWith(a));
}

/** The different words of a text in lower case, also those of `camelCase`, without stop words. */
export function divide(text: string): string[] {
  const words = text
    .slice(0, MAX_TEXT)
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return [...new Set(words)].filter((word) => word !== '' && !STOP_WORDS.has(word));
}
