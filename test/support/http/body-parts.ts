/** JSON of about so many bytes. */
export type BodyParts = Readonly<Record<string, (bytes: number) => string>>;

/** What a body of JSON can consist of. */
export const BODY_PARTS: BodyParts = {
  arrays: (bytes) => nest('[', ']', bytes),
  objects: (bytes) => nest('{"a":', '}', bytes, '1'),
  'arrays in objects': (bytes) => nest('{"a":[', ']}', bytes),
  numbers: (bytes) => `[${fill('1,', bytes)}1]`,
  digits: (bytes) => fill('1', bytes),
  'digits of a fraction': (bytes) => `0.${fill('1', bytes)}e1`,
  'a string': (bytes) => `"${fill('a', bytes)}"`,
  escapes: (bytes) => `"${fill('\\u00e9', bytes)}"`,
  backslashes: (bytes) => `"${fill('\\\\', bytes)}"`,
  'invisible characters': (bytes) => `"${fill('\u200b', bytes / 3)}"`,
  'empty strings': (bytes) => `[${fill('"",', bytes)}""]`,
  'empty objects': (bytes) => `[${fill('{},', bytes)}{}]`,
  'equal objects': (bytes) => `[${fill('{"a":{"b":1}},', bytes)}1]`,
  'different objects': (bytes) => `[${listed(bytes, 14, (n) => `{"a":${n}}`)}]`,
  'different members': (bytes) => `{${listed(bytes, 12, (n) => `"m${n}":1`)}}`,
  'repeated members': (bytes) => `{${fill('"a":1,', bytes)}"a":1}`,
  'members with escapes': (bytes) => `{${listed(bytes, 18, (n) => `"\\u0061${n}":1`)}}`,
  'repeated members in a deep place': (bytes) => {
    const inner = `{${fill('"a":1,', bytes / 2)}"a":1}`;
    return nest('[', ']', bytes / 2, inner);
  },
  'long names': (bytes) => `{"${fill('a', bytes / 2)}":1,"${fill('b', bytes / 2)}":1}`,
  'white space': (bytes) => `${fill(' ', bytes)}1`,
  'an open array': (bytes) => `[${fill('1,', bytes)}`,
  'no UTF-8 at the end': (bytes) => `"${fill('a', bytes)}\udfff"`,
};

function nest(open: string, close: string, bytes: number, inner = ''): string {
  const depth = Math.floor(bytes / (open.length + close.length));
  return open.repeat(depth) + inner + close.repeat(depth);
}

function fill(unit: string, bytes: number): string {
  return unit.repeat(Math.max(1, Math.floor(bytes / unit.length)));
}

function listed(bytes: number, bytesEach: number, write: (index: number) => string): string {
  const count = Math.floor(bytes / bytesEach);
  return Array.from({ length: count }, (_, index) => write(100_000 + index)).join();
}
