/** Below the bound of the values of a body. */
const VALUES = 19_000;
/** Fits into the levels of every body. */
const LEVELS = 90;
const LONG_NUMBER = '1234567890123456789012345678901234567890123456.5';

/** Characters and escapes that a string of JSON can consist of. */
const UNITS: Readonly<Record<string, string>> = {
  letters: 'a',
  'line feeds': '\\n',
  'escaped letters': '\\u0061',
  'escaped control characters': '\\u0001',
  'escaped zeros': '\\u0000',
  'escaped backslashes': '\\\\',
  'escaped quotes': '\\"',
  'lone surrogates': '\\ud800',
  'invisible characters': '\u200b',
  'characters beyond ASCII': '\u00e9',
  'surrogate pairs': '\u{1f600}',
};

/** CI measures every third value, another third with each commit. */
const PARTS = process.env['CI'] === undefined ? 1 : 3;
const PART = Number(process.env['FUZZ_SEED'] ?? 0) % PARTS;

/** The values to measure, each with its name. */
export function listLongValues(bytes: number): readonly (readonly [string, string])[] {
  const all = Object.entries(createLongValues(bytes));
  return all.filter((_, index) => index % PARTS === PART);
}

/** JSON texts of at most so many bytes, and of every shape. */
export function createLongValues(bytes: number): Readonly<Record<string, string>> {
  /** Repeats an entry of a list up to a number, and within the length. */
  const list = (create: (index: number) => string, count = VALUES) => {
    const fitting = Math.floor((bytes - 2) / (create(count).length + 1));
    return Array.from({ length: Math.min(count, fitting) }, (_, index) => create(index)).join(',');
  };
  const pad = (text: string) => text + ' '.repeat(Math.max(0, bytes - text.length));
  const fill = (unit: string) => unit.repeat(Math.floor((bytes - 6) / Buffer.byteLength(unit)));
  const zeros = '0'.repeat(bytes - 12);
  const strings = Object.entries(UNITS).flatMap(([name, unit]) => [
    [`a string of ${name}`, `"${fill(unit)}"`] as const,
    [`a name of ${name}`, `{"${fill(unit)}":0}`] as const,
  ]);
  return {
    'one value': '0',
    blanks: pad(''),
    numbers: pad(`[${list(() => '0')}]`),
    'more numbers': `[${list(() => '0', bytes)}]`,
    'numbers of many digits': `[${list(() => LONG_NUMBER)}]`,
    strings: `[${list(() => `"${'a'.repeat(50)}"`)}]`,
    'strings of escapes': `[${list(() => `"${'\\u0001'.repeat(8)}"`)}]`,
    members: pad(`{${list((index) => `"${index}":0`)}}`),
    'more members': `{${list((index) => `"${index}":0`, bytes)}}`,
    'more names': `{${list((index) => `"a${index}":0`, bytes)}}`,
    'equal members': `{${list(() => '"a":0', bytes)}}`,
    'members with long names': `{${list((index) => `"${'a'.repeat(45)}${index}":0`)}}`,
    'names with escapes': `{${list((index) => `"${'\\u0001'.repeat(7)}${index}":0`)}}`,
    'empty objects': pad(`[${list(() => '{}')}]`),
    'nested lists': pad(`[${list(() => nest('[', '', ']', LEVELS), VALUES / LEVELS - 1)}]`),
    'nested objects': pad(`[${list(() => nest('{"a":', '0', '}', LEVELS), VALUES / LEVELS - 1)}]`),
    'more levels': pad(`[${list(() => nest('[', '', ']', 900), VALUES / 900 - 1)}]`),
    'a string in many lists': nest('[', `"${fill('a').slice(2 * LEVELS)}"`, ']', LEVELS),
    'a string in more levels': nest('{"a":', `"${fill('a').slice(6000)}"`, '}', 900),
    'many more levels': nest('[', '', ']', bytes / 2),
    ...Object.fromEntries(strings),
    'an open string': `"${fill('\\n')}`,
    digits: `1${zeros}`,
    'digits of a fraction': `1.${zeros.replaceAll('0', '1')}`,
    'zeros of a fraction': `1.${zeros}`,
    'zeros before a digit': `0.${zeros}1`,
    'zeros between digits': `1${zeros}1e-${bytes}`,
    'digits of an exponent': `1e1${zeros}`,
    'zeros of an exponent': `1e${zeros}1`,
  };
}

function nest(open: string, inner: string, close: string, levels: number): string {
  return open.repeat(levels) + inner + close.repeat(levels);
}
