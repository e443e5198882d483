import { PatternReader, UntranslatablePattern } from './pattern-reader.js';
import { CLASS_ESCAPES, EVERYTHING, formatCodePoint } from './pattern-sets.js';

/** A pattern in RE2's syntax, for a search anywhere in a text. */
interface TranslatedPattern {
  readonly source: string;
  /** An upper bound of the instructions that RE2 needs for it, roughly. */
  readonly size: number;
}

/** RE2 rejects a higher count, also as the product of nested repetitions. */
const MAX_REPEAT = 1000;
const MAX_LENGTH = 4096;
const MAX_NESTING = 200;
const MAX_SIZE = 5000;

/** The translated content of a group, or of the whole pattern. */
interface Sequence {
  text: string;
  size: number;
  /** The greatest product of nested repetitions. */
  repeats: number;
}

/** The part that a quantifier repeats. */
type Atom = Readonly<Sequence>;

/**
 * Translates an ECMA-262 pattern with the flag `u` to RE2, which needs linear time.
 * @throws UntranslatablePattern for an invalid pattern, and for one without an equal in RE2:
 * lookaround, backreferences.
 */
export function translatePattern(pattern: string): TranslatedPattern {
  if (pattern.length > MAX_LENGTH)
    throw new UntranslatablePattern(`is longer than ${MAX_LENGTH} characters`);
  assertValid(pattern);
  const reader = new PatternReader(pattern);
  const open: Sequence[] = [];
  let sequence = createSequence();
  while (!reader.isAtEnd) {
    if (reader.skip('|')) {
      sequence.text += '|';
      sequence.size += 1;
    } else if (reader.skip('(')) {
      reader.skipGroupHead();
      if (open.length >= MAX_NESTING)
        throw new UntranslatablePattern(`is nested deeper than ${MAX_NESTING} groups`);
      open.push(sequence);
      sequence = createSequence();
    } else {
      const atom = reader.skip(')') ? closeGroup(sequence) : readAtom(reader);
      if (atom.isGroup) sequence = open.pop() ?? createSequence();
      append(sequence, repeat(atom, reader));
    }
    if (sequence.size > MAX_SIZE) {
      const problem = `needs about ${sequence.size} instructions of RE2, at most ${MAX_SIZE} are allowed`;
      throw new UntranslatablePattern(problem);
    }
  }
  return { source: sequence.text, size: sequence.size };
}

function assertValid(pattern: string): void {
  try {
    new RegExp(pattern, 'u');
  } catch {
    throw new UntranslatablePattern('is not a regular expression of ECMA-262 with the flag u');
  }
}

function createSequence(): Sequence {
  return { text: '', size: 1, repeats: 1 };
}

function append(sequence: Sequence, { text, size, repeats }: Atom): void {
  sequence.text += text;
  sequence.size += size;
  sequence.repeats = Math.max(sequence.repeats, repeats);
}

function closeGroup({ text, size, repeats }: Sequence): Atom & { readonly isGroup: true } {
  return { text: `(?:${text})`, size, repeats, isGroup: true };
}

function readAtom(reader: PatternReader): Atom & { readonly isGroup: false } {
  return { text: translateAtom(reader), size: 1, repeats: 1, isGroup: false };
}

function translateAtom(reader: PatternReader): string {
  if (reader.skip('^')) return '\\A';
  if (reader.skip('$')) return '\\z';
  if (reader.skip('.')) return `[${CLASS_ESCAPES['.']}]`;
  if (reader.skip('[')) return translateClass(reader);
  if (reader.skip('\\b')) return '\\b';
  if (reader.skip('\\B')) return '\\B';
  const set = reader.readSet();
  return set === null ? formatCodePoint(reader.readCodePoint()) : `[${set}]`;
}

/** Translates a class after its opening bracket. */
function translateClass(reader: PatternReader): string {
  const isNegated = reader.skip('^');
  let content = '';
  while (!reader.skip(']')) content += translateClassItem(reader);
  if (content === '') return isNegated ? `[${EVERYTHING}]` : `[^${EVERYTHING}]`;
  return `[${isNegated ? '^' : ''}${content}]`;
}

/** A set, a character or a range; validity is known, so `-` after a set is a character. */
function translateClassItem(reader: PatternReader): string {
  const set = reader.readSet();
  if (set !== null) return set;
  const first = formatCodePoint(reader.readClassCodePoint());
  if (!reader.isRange()) return first;
  reader.skip('-');
  return `${first}-${formatCodePoint(reader.readClassCodePoint())}`;
}

function repeat(atom: Atom, reader: PatternReader): Atom {
  const quantifier = reader.readQuantifier();
  if (quantifier === null) return atom;
  const { text, min, max } = quantifier;
  const count = Math.max(1, max ?? min);
  const repeats = text.startsWith('{') ? atom.repeats * count : atom.repeats;
  if (repeats > MAX_REPEAT) {
    throw new UntranslatablePattern(`repeats more than ${MAX_REPEAT} times, which RE2 does not`);
  }
  return { text: atom.text + text, size: (atom.size + 1) * (count + 1), repeats };
}
