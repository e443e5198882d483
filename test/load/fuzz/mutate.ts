import fc from 'fast-check';

/** One change of a text. Positions are modulo its length, so that every edit fits every text. */
type Edit =
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number }
  | { readonly kind: 'set'; readonly at: number; readonly byte: number }
  | { readonly kind: 'truncate'; readonly at: number }
  | { readonly kind: 'cut'; readonly at: number; readonly length: number }
  | {
      readonly kind: 'repeat';
      readonly at: number;
      readonly length: number;
      readonly times: number;
    }
  | { readonly kind: 'insert'; readonly at: number; readonly word: number }
  | { readonly kind: 'splice'; readonly at: number; readonly seed: number; readonly from: number };

/** A seed and its edits. */
export interface Mutation {
  readonly seed: number;
  readonly edits: readonly Edit[];
}

export interface Material {
  readonly seeds: readonly Buffer[];
  /** Tokens of the language of the seeds. */
  readonly dictionary: readonly string[];
}

/** Longer texts only take more time. Bytes. */
const MAX_LENGTH = 64 * 1024;
const MAX_EDITS = 6;

const position = fc.nat({ max: 0xffff });
const length = fc.oneof(fc.nat({ max: 16 }), fc.nat({ max: 0xffff }));

export const mutations: fc.Arbitrary<Mutation> = fc.record({
  seed: position,
  edits: fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('flip' as const), at: position, bit: fc.nat({ max: 7 }) }),
      fc.record({ kind: fc.constant('set' as const), at: position, byte: fc.nat({ max: 255 }) }),
      fc.record({ kind: fc.constant('truncate' as const), at: position }),
      fc.record({ kind: fc.constant('cut' as const), at: position, length }),
      fc.record({
        kind: fc.constant('repeat' as const),
        at: position,
        length,
        times: fc.integer({ min: 1, max: 256 }),
      }),
      { weight: 3, arbitrary: insertion() },
      fc.record({
        kind: fc.constant('splice' as const),
        at: position,
        seed: position,
        from: length,
      }),
    ),
    { maxLength: MAX_EDITS },
  ),
});

function insertion(): fc.Arbitrary<Edit> {
  return fc.record({ kind: fc.constant('insert' as const), at: position, word: position });
}

/** Applies the edits to the seed in order. Returns at most 64 KiB. */
export function mutate({ seed, edits }: Mutation, material: Material): Buffer {
  return edits
    .reduce((bytes, edit) => apply(bytes, edit, material), pick(material.seeds, seed))
    .subarray(0, MAX_LENGTH);
}

function apply(bytes: Buffer, edit: Edit, { seeds, dictionary }: Material): Buffer {
  const at = edit.at % (bytes.length + 1);
  const before = bytes.subarray(0, at);
  const after = bytes.subarray(at);
  switch (edit.kind) {
    case 'flip':
      return replaceByte(bytes, at, (byte) => byte ^ (1 << edit.bit));
    case 'set':
      return replaceByte(bytes, at, () => edit.byte);
    case 'truncate':
      return before;
    case 'cut':
      return Buffer.concat([before, after.subarray(edit.length)]);
    case 'repeat':
      return repeat(before, after, edit.length, edit.times);
    case 'insert':
      return Buffer.concat([before, Buffer.from(pick(dictionary, edit.word), 'latin1'), after]);
    case 'splice': {
      const other = pick(seeds, edit.seed);
      return Buffer.concat([before, other.subarray(edit.from % (other.length + 1))]);
    }
  }
}

function replaceByte(bytes: Buffer, at: number, change: (byte: number) => number): Buffer {
  const changed = Buffer.from(bytes);
  const byte = changed[at];
  if (byte !== undefined) changed[at] = change(byte);
  return changed;
}

function repeat(before: Buffer, after: Buffer, length: number, times: number): Buffer {
  const part = after.subarray(0, length);
  const fitting = part.length === 0 ? 0 : Math.min(times, Math.ceil(MAX_LENGTH / part.length));
  return Buffer.concat([before, ...new Array<Buffer>(fitting).fill(part), after]);
}

function pick<T>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('the list is empty');
  return item;
}
