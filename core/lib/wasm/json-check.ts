// AssemblyScript, compiled to json-check.wasm by tools/build.mjs: TypeScript's syntax, WebAssembly's types.
// The text is in the module's memory, whole or one chunk at a time. Addresses are byte offsets; 0 means that the text
// is not JSON.

const TAB: u8 = 0x09;
const LINE_FEED: u8 = 0x0a;
const CARRIAGE_RETURN: u8 = 0x0d;
const SPACE: u8 = 0x20;
const QUOTE: u8 = 0x22;
const PLUS: u8 = 0x2b;
const COMMA: u8 = 0x2c;
const MINUS: u8 = 0x2d;
const POINT: u8 = 0x2e;
const SLASH: u8 = 0x2f;
const ZERO: u8 = 0x30;
const COLON: u8 = 0x3a;
const OPEN_ARRAY: u8 = 0x5b;
const BACKSLASH: u8 = 0x5c;
const LOWER_A: u8 = 0x61;
const LOWER_B: u8 = 0x62;
const LOWER_E: u8 = 0x65;
const LOWER_F: u8 = 0x66;
const LOWER_N: u8 = 0x6e;
const LOWER_R: u8 = 0x72;
const LOWER_T: u8 = 0x74;
const LOWER_U: u8 = 0x75;
const OPEN_OBJECT: u8 = 0x7b;
/** The distance from an opening bracket to its closing one. */
const TO_CLOSING: u8 = 2;
/** The bit that makes a letter lower case. */
const CASE_BIT: u8 = 0x20;

/** Units of the counts: no text has as many members as one value counts for. */
const MEMBER: u64 = 1;
const VALUE: u64 = 1 << 32;

const NOT_JSON: usize = 0;
const DIGITS: u8 = 10;
const HEX_DIGITS: usize = 4;
/** Bytes per step inside strings and between values. */
const STEP: usize = 16;
const STEP_MASK: i32 = 0xffff;

// Four letters as a little-endian number.
const TRUE: u32 = 0x65757274;
const NULL: u32 = 0x6c6c756e;
const FALS: u32 = 0x736c6166;

// Sixteen times the same byte, loaded from memory for comparison: constants in code would be rebuilt each time.
const QUOTES: usize = 0;
const BACKSLASHES: usize = STEP;
const LAST_CONTROLS: usize = 2 * STEP;
const SPACES: usize = 3 * STEP;
const LINE_FEEDS: usize = 4 * STEP;
const CARRIAGE_RETURNS: usize = 5 * STEP;
const TABS: usize = 6 * STEP;
v128.store(QUOTES, i8x16.splat(QUOTE));
v128.store(BACKSLASHES, i8x16.splat(BACKSLASH));
v128.store(LAST_CONTROLS, i8x16.splat(SPACE - 1));
v128.store(SPACES, i8x16.splat(SPACE));
v128.store(LINE_FEEDS, i8x16.splat(LINE_FEED));
v128.store(CARRIAGE_RETURNS, i8x16.splat(CARRIAGE_RETURN));
v128.store(TABS, i8x16.splat(TAB));

/** Offset of the text in memory. In front of it is room for the start of a token that the last chunk has cut. */
export const TEXT: usize = 8 * STEP;
/** Room for what is carried over: at most 7 bytes, `-1.1e+1`. */
const ROOM: usize = 7 * STEP;

const IS_INVALID: i32 = 0;
const IS_JSON: i32 = 1;
/** The chunk is the start of a JSON text. */
const IS_OPEN: i32 = 2;

// What the end of a chunk has cut.
const CUT_TOKEN: i32 = 0;
const CUT_STRING: i32 = 1;
const CUT_AFTER_STRING: i32 = 2;
const CUT_AFTER_BRACKET: i32 = 3;
const CUT_AFTER_VALUE: i32 = 4;

// The state between two chunks: `resume` takes it back. A chunk ends anywhere, so what it has cut is kept as the
// shortest text that means the same: it is put in front of the next chunk. `"` stands for an open string, `""` for a
// value that has ended, and a number keeps one digit of many.

/** Bytes in front of `TEXT` that the next chunk continues. */
export let carried: usize = 0;
/**
 * The number of open arrays and objects. Their brackets, one byte each, follow the chunk at
 * `bracketsOfOpen`.
 */
export let depthOfOpen: usize = 0;
export let bracketsOfOpen: usize = 0;
/** The innermost open bracket. */
export let bracketOfOpen: u8 = 0;
/** Whether the name of a member comes next. */
export let isNameOfOpen: bool = false;

/** The depth of nested arrays and objects in the last text or chunk that was valid. */
export let depthOfLast: usize = 0;
/** The members of all objects in the last text that was JSON. */
export let membersOfLast: usize = 0;
/** The values in the last text that was JSON, arrays and objects included. */
export let valuesOfLast: usize = 0;
/** The position of the error in the last invalid text: the address of the first invalid byte. */
export let invalidAt: usize = 0;

/**
 * Whether the `length` bytes at `TEXT`, known to be UTF-8, are JSON (RFC 8259), exactly as `JSON.parse`
 * decides: 1 if they are, 0 if not. The caller provides memory for twice the length and `2 * STEP` bytes: the text is
 * followed by a zero, which JSON cannot contain, so that no step checks for the end, and by one byte per open bracket.
 * @param isLast false for a chunk that others follow: 2 if they can make it JSON
 */
export function check(length: usize, isLast: bool): i32 {
  return checkText(TEXT, length, isLast, 0, 0, false);
}

/**
 * Checks each line of the `length` bytes at `TEXT`, which end with a line feed: returns the offset of the first line
 * that is neither JSON nor blank, `length` without one. Line feeds are replaced in memory.
 */
export function checkLines(length: usize): usize {
  const end = TEXT + length;
  let start: usize = TEXT;
  while (start < end) {
    const lineEnd = skipToLineFeed(start);
    // A zero ends the text of this line.
    store<u8>(lineEnd, 0);
    if (skipSpace(start) !== lineEnd) {
      const result = checkFrom(start, lineEnd, end + STEP, true, 0, 0, false);
      if (result !== IS_JSON) return start - TEXT;
    }
    start = lineEnd + 1;
  }
  return length;
}

/**
 * The same for a chunk that follows another one. The caller restores the bytes in front of `TEXT`, copies the
 * brackets to where `bracketsAfter` says and provides memory for them too.
 */
export function resume(
  length: usize,
  isLast: bool,
  carriedBytes: usize,
  depth: usize,
  bracket: u8,
  isName: bool,
): i32 {
  return checkText(TEXT - carriedBytes, length, isLast, depth, bracket, isName);
}

/** The address of the brackets of a chunk. */
export function bracketsAfter(length: usize): usize {
  return TEXT + length + STEP;
}

function checkText(
  start: usize,
  length: usize,
  isLast: bool,
  depth: usize,
  bracket: u8,
  isName: bool,
): i32 {
  const end = TEXT + length;
  v128.store(end, i8x16.splat(0));
  return checkFrom(start, end, end + STEP, isLast, depth, bracket, isName);
}

/** @param end the address of a zero */
function checkFrom(
  start: usize,
  end: usize,
  brackets: usize,
  isLast: bool,
  depthAtStart: usize,
  bracketAtStart: u8,
  isNameAtStart: bool,
): i32 {
  let depth = depthAtStart;
  let deepest = depthAtStart;
  // Members and values in one number: the loop has few registers left.
  let counts: u64 = 0;
  // The innermost open bracket.
  let bracket = bracketAtStart;
  let isName = isNameAtStart;
  let offset = skipSpace(start);
  // What a chunk that ends here has cut.
  let token: usize = offset;
  let cut = CUT_TOKEN;
  while (true) {
    const first = load<u8>(offset);
    token = offset;
    if (first === QUOTE) {
      offset = skipString(offset + 1);
      if (offset === NOT_JSON) {
        cut = CUT_STRING;
        break;
      }
      if (isName) {
        offset = skipSpace(offset);
        if (load<u8>(offset) !== COLON) {
          cut = CUT_AFTER_STRING;
          invalidAt = offset;
          break;
        }
        offset = skipSpace(offset + 1);
        isName = false;
        counts += MEMBER;
        continue;
      }
    } else if (isName) {
      invalidAt = offset;
      break;
    } else if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
      offset = skipSpace(offset + 1);
      if (depth === deepest) deepest += 1;
      if (load<u8>(offset) !== first + TO_CLOSING) {
        if (offset === end) {
          cut = CUT_AFTER_BRACKET;
          invalidAt = offset;
          break;
        }
        store<u8>(brackets + depth, bracket);
        depth += 1;
        bracket = first;
        isName = first === OPEN_OBJECT;
        counts += VALUE;
        continue;
      }
      offset += 1;
    } else {
      offset = skipNumberOrLiteral(offset, first);
      if (offset === NOT_JSON) break;
    }
    // A value has ended; the arrays and objects around it may end here too.
    counts += VALUE;
    let isNext = false;
    while (true) {
      offset = skipSpace(offset);
      if (depth === 0) {
        depthOfLast = deepest;
        membersOfLast = usize(counts);
        valuesOfLast = usize(counts / VALUE);
        if (offset === end && isLast) return IS_JSON;
        break;
      }
      const next = load<u8>(offset);
      if (next === COMMA) {
        offset = skipSpace(offset + 1);
        isName = bracket === OPEN_OBJECT;
        isNext = true;
        break;
      }
      if (next !== bracket + TO_CLOSING) break;
      offset += 1;
      depth -= 1;
      bracket = load<u8>(brackets + depth);
    }
    if (isNext) continue;
    cut = CUT_AFTER_VALUE;
    invalidAt = offset;
    break;
  }
  if (isLast || invalidAt !== end) return IS_INVALID;
  keep(cut, token, end);
  depthOfOpen = depth;
  depthOfLast = deepest;
  bracketsOfOpen = brackets;
  bracketOfOpen = bracket;
  isNameOfOpen = isName;
  return IS_OPEN;
}

/** Puts what the chunk has cut in front of the next one. */
function keep(cut: i32, token: usize, end: usize): void {
  carried = 0;
  if (cut === CUT_STRING) {
    carry(QUOTE);
    for (let offset = escapeAt; offset < end; offset += 1) carry(load<u8>(offset));
  } else if (cut === CUT_AFTER_BRACKET) {
    carry(load<u8>(token));
  } else if (cut === CUT_AFTER_STRING || (cut === CUT_AFTER_VALUE && !isDigit(load<u8>(end - 1)))) {
    carry(QUOTE);
    carry(QUOTE);
  } else {
    carryNumberOrLiteral(token, end);
  }
  for (let index: usize = 1; index <= carried; index += 1) {
    store<u8>(TEXT - index, load<u8>(ROOM + carried - index));
  }
}

function carry(byte: u8): void {
  store<u8>(ROOM + carried, byte);
  carried += 1;
}

/** Carries the first of many digits: it says whether more may follow. */
function carryNumberOrLiteral(from: usize, end: usize): void {
  let isAfterDigit = false;
  for (let offset = from; offset < end; offset += 1) {
    const byte = load<u8>(offset);
    if (isAfterDigit && isDigit(byte)) continue;
    isAfterDigit = isDigit(byte);
    carry(byte);
  }
}

function rejectAt(offset: usize): usize {
  invalidAt = offset;
  return NOT_JSON;
}

function skipToLineFeed(from: usize): usize {
  let offset = from;
  while (true) {
    const ends = i8x16.bitmask(i8x16.eq(v128.load(offset), v128.load(LINE_FEEDS)));
    if (ends !== 0) return offset + ctz(ends);
    offset += STEP;
  }
}

/** Usually there is none. */
function skipSpace(from: usize): usize {
  return load<u8>(from) > SPACE ? from : skipSpaces(from);
}

function skipSpaces(from: usize): usize {
  let offset = from;
  while (true) {
    const bytes = v128.load(offset);
    const isSpace = i8x16.eq(bytes, v128.load(SPACES));
    const isTab = i8x16.eq(bytes, v128.load(TABS));
    const isLineFeed = i8x16.eq(bytes, v128.load(LINE_FEEDS));
    const isReturn = i8x16.eq(bytes, v128.load(CARRIAGE_RETURNS));
    const isAny = v128.or(v128.or(isSpace, isTab), v128.or(isLineFeed, isReturn));
    const others = i8x16.bitmask(isAny) ^ STEP_MASK;
    if (others !== 0) return offset + ctz(others);
    offset += STEP;
  }
}

/** The escape that is not valid in the last such string, or the byte that no string can contain. */
let escapeAt: usize = 0;

/** Skips a string from after its opening quote to after its closing one, sixteen bytes at a time. */
function skipString(from: usize): usize {
  let offset = from;
  while (true) {
    const bytes = v128.load(offset);
    const quotes = i8x16.bitmask(i8x16.eq(bytes, v128.load(QUOTES)));
    const isBackslash = i8x16.eq(bytes, v128.load(BACKSLASHES));
    const isControl = i8x16.le_u(bytes, v128.load(LAST_CONTROLS));
    const others = i8x16.bitmask(v128.or(isBackslash, isControl));
    // `quotes - 1` has all bits below the first quote, and above it only those of other quotes.
    if ((others & (quotes - 1)) === 0) {
      if (quotes !== 0) return offset + ctz(quotes) + 1;
      offset += STEP;
      continue;
    }
    offset += ctz(others);
    const after = load<u8>(offset) === BACKSLASH ? skipEscape(offset + 1) : rejectAt(offset);
    if (after === NOT_JSON) {
      escapeAt = offset;
      return NOT_JSON;
    }
    offset = after;
  }
}

/** Skips what follows a backslash. */
function skipEscape(from: usize): usize {
  const byte = load<u8>(from);
  if (byte !== LOWER_U) return isEscape(byte) ? from + 1 : rejectAt(from);
  for (let offset = from + 1; offset <= from + HEX_DIGITS; offset += 1) {
    if (!isHex(load<u8>(offset))) return rejectAt(offset);
  }
  return from + 1 + HEX_DIGITS;
}

function isEscape(byte: u8): bool {
  if (byte === QUOTE || byte === BACKSLASH || byte === SLASH) return true;
  if (byte === LOWER_B || byte === LOWER_F || byte === LOWER_N) return true;
  return byte === LOWER_R || byte === LOWER_T;
}

function isHex(byte: u8): bool {
  const letter = byte | CASE_BIT;
  return isDigit(byte) || (letter >= LOWER_A && letter <= LOWER_F);
}

function isDigit(byte: u8): bool {
  return u8(byte - ZERO) < DIGITS;
}

function skipNumberOrLiteral(from: usize, first: u8): usize {
  if (isDigit(first) || first === MINUS) return skipNumber(from, first);
  const word = load<u32>(from);
  if (word === TRUE || word === NULL) return from + 4;
  if (word === FALS) return load<u8>(from + 4) === LOWER_E ? from + 5 : rejectAt(from + 4);
  return rejectAt(from + countEqualBytes(word, expectWord(first)));
}

/** The literal that begins like this; 0 for none. */
function expectWord(first: u8): u32 {
  if (first === LOWER_T) return TRUE;
  if (first === LOWER_N) return NULL;
  return first === LOWER_F ? FALS : 0;
}

/** Counts from the first byte on; the words differ. */
function countEqualBytes(word: u32, expected: u32): usize {
  return expected === 0 ? 0 : ctz(word ^ expected) >> 3;
}

function skipNumber(from: usize, first: u8): usize {
  const start = first === MINUS ? from + 1 : from;
  let offset = skipDigits(start);
  // JSON does not allow a leading zero.
  if (offset === NOT_JSON) return NOT_JSON;
  if (load<u8>(start) === ZERO && offset > start + 1) return rejectAt(start + 1);
  if (load<u8>(offset) === POINT) {
    offset = skipDigits(offset + 1);
    if (offset === NOT_JSON) return NOT_JSON;
  }
  if ((load<u8>(offset) | CASE_BIT) !== LOWER_E) return offset;
  const sign = load<u8>(offset + 1);
  return skipDigits(sign === PLUS || sign === MINUS ? offset + 2 : offset + 1);
}

/** Requires at least one digit. */
function skipDigits(from: usize): usize {
  let offset = from;
  while (isDigit(load<u8>(offset))) offset += 1;
  return offset === from ? rejectAt(from) : offset;
}
