/** Code points from the first to the last, inclusive. */
type Range = readonly [first: number, last: number];

const LAST = 0x10ffff;

const DIGIT: readonly Range[] = [[0x30, 0x39]];
const WORD: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** WhiteSpace and LineTerminator of ECMA-262; RE2's own `\s` is ASCII alone. */
const SPACE: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_END: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

/** The content of an RE2 class for `\d`, `\w`, `\s` and their negations; `.` is here too. */
export const CLASS_ESCAPES: Readonly<Record<string, string>> = {
  d: formatRanges(DIGIT),
  D: formatRanges(complement(DIGIT)),
  w: formatRanges(WORD),
  W: formatRanges(complement(WORD)),
  s: formatRanges(SPACE),
  S: formatRanges(complement(SPACE)),
  '.': formatRanges(complement(LINE_END)),
};

export const EVERYTHING = formatRanges([[0, LAST]]);

/** Short names by long name. RE2's `C` lacks unassigned code points, so it has no entry. */
const CATEGORIES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Uppercase_Letter: 'Lu',
  Lowercase_Letter: 'Ll',
  Titlecase_Letter: 'Lt',
  Modifier_Letter: 'Lm',
  Other_Letter: 'Lo',
  Mark: 'M',
  Combining_Mark: 'M',
  Nonspacing_Mark: 'Mn',
  Spacing_Mark: 'Mc',
  Enclosing_Mark: 'Me',
  Number: 'N',
  Decimal_Number: 'Nd',
  digit: 'Nd',
  Letter_Number: 'Nl',
  Other_Number: 'No',
  Punctuation: 'P',
  punct: 'P',
  Connector_Punctuation: 'Pc',
  Dash_Punctuation: 'Pd',
  Open_Punctuation: 'Ps',
  Close_Punctuation: 'Pe',
  Initial_Punctuation: 'Pi',
  Final_Punctuation: 'Pf',
  Other_Punctuation: 'Po',
  Symbol: 'S',
  Math_Symbol: 'Sm',
  Currency_Symbol: 'Sc',
  Modifier_Symbol: 'Sk',
  Other_Symbol: 'So',
  Separator: 'Z',
  Space_Separator: 'Zs',
  Line_Separator: 'Zl',
  Paragraph_Separator: 'Zp',
  Control: 'Cc',
  cntrl: 'Cc',
  Format: 'Cf',
  Private_Use: 'Co',
};
const SHORT_CATEGORIES: ReadonlySet<string> = new Set(Object.values(CATEGORIES));

/** Scripts with the same long name in ECMA-262 and RE2 that schemas are known to use. */
const SCRIPTS: ReadonlySet<string> = new Set(
  (
    'Arabic Armenian Bengali Bopomofo Cherokee Cyrillic Devanagari Ethiopic Georgian Greek Gujarati ' +
    'Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian ' +
    'Myanmar Oriya Sinhala Syriac Tamil Telugu Thaana Thai Tibetan'
  ).split(' '),
);

/** The content of an RE2 class for `\p{…}` or `\P{…}`; `null` where RE2 has no equal. */
export function translateProperty(text: string, isNegated: boolean): string | null {
  if (text === 'Any') return isNegated ? null : EVERYTHING;
  if (text === 'ASCII') {
    const ascii: readonly Range[] = [[0, 0x7f]];
    return formatRanges(isNegated ? complement(ascii) : ascii);
  }
  const name = nameProperty(text);
  return name === null ? null : `\\${isNegated ? 'P' : 'p'}{${name}}`;
}

function nameProperty(text: string): string | null {
  const [property, value] = text.split('=', 2) as [string, string | undefined];
  if (value === undefined) return nameCategory(property);
  if (property === 'General_Category' || property === 'gc') return nameCategory(value);
  return (property === 'Script' || property === 'sc') && SCRIPTS.has(value) ? value : null;
}

function nameCategory(name: string): string | null {
  if (SHORT_CATEGORIES.has(name)) return name;
  return Object.hasOwn(CATEGORIES, name) ? (CATEGORIES[name] ?? null) : null;
}

/** A code point in RE2's notation. */
export function formatCodePoint(codePoint: number): string {
  return `\\x{${codePoint.toString(16)}}`;
}

function formatRange([first, last]: Range): string {
  return first === last
    ? formatCodePoint(first)
    : `${formatCodePoint(first)}-${formatCodePoint(last)}`;
}

function formatRanges(ranges: readonly Range[]): string {
  return ranges.map(formatRange).join('');
}

/** The code points outside of ascending ranges. */
function complement(ranges: readonly Range[]): Range[] {
  const gaps: Range[] = [];
  let next = 0;
  for (const [first, last] of ranges) {
    if (first > next) gaps.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= LAST) gaps.push([next, LAST]);
  return gaps;
}
