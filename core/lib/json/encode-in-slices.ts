import { forEachInSlices } from '../slices.js';

/** Characters. */
const PIECE_LENGTH = 65_536;

/**
 * Writes JSON as `JSON.stringify` does, without blocking the event loop: each item of a list that is a
 * member is encoded on its own.
 * @param value an object of JSON values and `undefined`
 */
export async function encodeInSlices(value: object): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let text = '';
  await forEachInSlices(listParts(value), (part) => {
    text += part;
    if (text.length < PIECE_LENGTH) return;
    pieces.push(Buffer.from(text));
    text = '';
  });
  pieces.push(Buffer.from(text));
  return pieces;
}

function* listParts(value: object): Generator<string> {
  let before = '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (Array.isArray(member)) yield* listItems(member);
    else yield JSON.stringify(member);
  }
  yield before === '{' ? '{}' : '}';
}

function* listItems(items: readonly unknown[]): Generator<string> {
  let before = '[';
  for (const item of items) {
    yield `${before}${JSON.stringify(item)}`;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}
