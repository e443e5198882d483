import { type DecodedText, decodePercent, ENCODINGS, locatePercent } from './percent-forms.js';

/**
 * Removes credentials from a text.
 * @param isCut whether something may have cut the text: a start of a secret at its end is then removed too
 */
export type Mask = (text: string, isCut?: boolean) => string;

export const MASK = '[redacted]';
/** The start of a secret that is searched, so that the cost does not depend on its length. */
const SEARCHED_LENGTH = 64;
/** A shorter start of a secret reveals little, and may be an ordinary word, such as `password`. */
const MIN_CUT_LENGTH = 9;
/** No adapter or log cuts a text to less: the end of a shorter one is that of its writer. */
const MIN_CUT_TEXT = 200;
/** The end of a text that may be the start of an encoded secret. */
const MAX_CUT_LENGTH = 1_024;
/** What may be left of a character that is encoded in percent. */
const PERCENT_END = /%[0-9A-Fa-f]?$/;
/** Starts where a run does, since a search from each of its characters would take quadratic time. */
const ENCODED_END = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]+$/;
/** A shorter secret is part of many words, and is no secret among them: only a whole word is masked. */
const MIN_INNER_LENGTH = 4;
const WORD_CHARACTER = /[\p{L}\p{N}]/u;
/** Text that may be base64, such as that of a Basic credential. */
const ENCODED = /[A-Za-z0-9+/_-]+={0,2}/g;

/** The mask of no secret. */
export const UNCHANGED: Mask = (text) => text;

/** A part of a text, from its first character to behind its last one. */
type Span = readonly [start: number, end: number];

/**
 * Creates the mask of secrets: as they are, and in each form that repeats them, which is base64 at
 * any place of other text, and percent-encoding of any characters. A long secret counts as found
 * where it begins. The cost of a mask grows with the text alone.
 */
export function createSecretMask(given: readonly string[]): Mask {
  const secrets = listForms(given);
  if (secrets.length === 0) return UNCHANGED;
  const encodable = secrets.filter(({ length }) => length >= MIN_INNER_LENGTH);
  const shortest = Math.min(...encodable.map(({ length }) => Math.min(length, SEARCHED_LENGTH)));
  // Three bytes are four characters of base64.
  const search: Search = { secrets, encodable, minEncodedLength: Math.ceil((shortest * 4) / 3) };
  return (text, isCut = false) => {
    const spans = findSpans(text, search);
    if (isCut) spans.push(...findCutSecret(text, secrets));
    let form: DecodedText = { text, starts: null };
    for (let encodings = 0; encodings < ENCODINGS; encodings += 1) {
      const decoded = locatePercent(form);
      const { starts } = decoded;
      if (decoded === form || starts === null) break;
      for (const [start, end] of findSpans(decoded.text, search)) {
        spans.push([starts[start] ?? 0, starts[end] ?? text.length]);
      }
      form = decoded;
    }
    return spans.length === 0 ? text : replaceSpans(text, spans);
  };
}

/** One mask after the other. */
export function joinMasks(first: Mask, second: Mask): Mask {
  if (first === second) return first;
  return (text, isCut) => second(first(text, isCut), isCut);
}

/** Whether a writer that is not known, such as a plugin, may have cut a text. */
export function mayBeCut(text: string): boolean {
  return text.length >= MIN_CUT_TEXT;
}

/** The part of a longer text that is masked before it is shortened, since the cost of a mask depends on the length. */
const MARGIN = 4_096;

/** Shortens a text so that no part of a secret remains at its end: what is masked is cut, not the reverse. */
export function shortenMasked(text: string, maxLength: number, mask: Mask): string {
  return mask(text.slice(0, maxLength + MARGIN), mayBeCut(text)).slice(0, maxLength);
}

interface Search {
  readonly secrets: readonly string[];
  /** Those that are searched in base64 too. */
  readonly encodable: readonly string[];
  readonly minEncodedLength: number;
}

/** The secrets, decoded and as in a form beside them, and their bytes in UTF-8, one character each. */
function listForms(given: readonly string[]): readonly string[] {
  const texts = given.flatMap((secret) => [
    secret,
    decodePercent(secret),
    secret.replaceAll(' ', '+'),
  ]);
  const bytes = texts.map((text) => Buffer.from(text).toString('latin1'));
  return [...new Set([...texts, ...bytes])].filter((text) => text !== '');
}

function findSpans(text: string, { secrets, encodable, minEncodedLength }: Search): Span[] {
  const spans = secrets.flatMap((secret) => findSecret(text, secret));
  for (const { 0: encoded, index } of text.matchAll(ENCODED)) {
    if (encoded.length < minEncodedLength || !holdsEncoded(encoded, encodable)) continue;
    spans.push([index, index + encoded.length]);
  }
  return spans;
}

/** Finds the start of a secret, and as much of the rest as is there. */
function findSecret(text: string, secret: string): Span[] {
  const start = secret.slice(0, SEARCHED_LENGTH);
  const spans: Span[] = [];
  for (let from = text.indexOf(start); from !== -1; ) {
    let length = start.length;
    while (length < secret.length && text[from + length] === secret[length]) length += 1;
    if (secret.length >= MIN_INNER_LENGTH || isWord(text, from, from + length)) {
      spans.push([from, from + length]);
    }
    from = text.indexOf(start, from + length);
  }
  return spans;
}

function isWord(text: string, start: number, end: number): boolean {
  return !WORD_CHARACTER.test(text.charAt(start - 1)) && !WORD_CHARACTER.test(text.charAt(end));
}

/** Finds the start of a secret at the end of a text, in any form. */
function findCutSecret(text: string, secrets: readonly string[]): Span[] {
  const offset = Math.max(0, text.length - MAX_CUT_LENGTH);
  const spans: Span[] = [];
  let form: DecodedText = { text: text.slice(offset), starts: null };
  for (let encodings = 0; encodings <= ENCODINGS; encodings += 1) {
    const { text: decoded, starts } = form;
    for (const end of new Set([decoded, decoded.replace(PERCENT_END, '')])) {
      const start = findCutForm(end, secrets);
      if (start !== null) spans.push([offset + (starts?.[start] ?? start), text.length]);
    }
    const next = locatePercent(form);
    if (next === form) break;
    form = next;
  }
  return spans;
}

/** @returns where the start of a secret begins, as it is or in base64; `null` without one */
function findCutForm(text: string, secrets: readonly string[]): number | null {
  const encoded = ENCODED_END.exec(text)?.[0] ?? '';
  return endsWithEncoded(encoded, secrets)
    ? text.length - encoded.length
    : findCutStart(text, secrets);
}

/** @returns where it begins, at the earliest; `null` for none */
function findCutStart(text: string, secrets: readonly string[]): number | null {
  // A longer start is found like a whole secret.
  const end = text.slice(-SEARCHED_LENGTH);
  const lengths = secrets.map((secret) => measureCutStart(end, secret));
  const longest = Math.max(...lengths);
  return longest === 0 ? null : text.length - longest;
}

/** @returns the length of the start of a secret at the end of a text */
function measureCutStart(text: string, secret: string): number {
  const start = secret.slice(0, MIN_CUT_LENGTH);
  for (let at = text.indexOf(start); at !== -1; at = text.indexOf(start, at + 1)) {
    if (secret.startsWith(text.slice(at))) return text.length - at;
  }
  return 0;
}

function endsWithEncoded(text: string, secrets: readonly string[]): boolean {
  return [0, 1, 2, 3].some((start) => {
    const decoded = Buffer.from(text.slice(start), 'base64').toString('latin1');
    return findCutStart(decoded, secrets) !== null;
  });
}

/** Other text before it, such as that of a media type, may be base64 too: each start is tried. */
function holdsEncoded(text: string, secrets: readonly string[]): boolean {
  return [0, 1, 2, 3].some((start) => {
    const decoded = Buffer.from(text.slice(start), 'base64').toString('latin1');
    return secrets.some((secret) => decoded.includes(secret.slice(0, SEARCHED_LENGTH)));
  });
}

/** Replaces each span; overlapping ones are one. */
function replaceSpans(text: string, spans: Span[]): string {
  spans.sort(([a], [b]) => a - b);
  const parts: string[] = [];
  let end = 0;
  for (const [from, to] of spans) {
    if (from >= end) parts.push(text.slice(end, from), MASK);
    end = Math.max(end, to);
  }
  parts.push(text.slice(end));
  return parts.join('');
}

/** Matches the text between `://` and an `@`, in JSON with escaped slashes too. */
const USER = /(:(?:\\?\/){2})[^\s"'<>/?#\\]*@/g;
/**
 * Matches a password with a slash, which is invalid in a URL but may occur in a rejected file.
 * Excludes port numbers.
 */
const PASSWORD_WITH_SLASH = /(:(?:\\?\/){2}[^\s"'<>/?#@:]*:)(?!\d+[/?#])[^\s"'<>]*@/g;

export function maskUrlPasswords(text: string): string {
  return text.replace(USER, `$1${MASK}@`).replace(PASSWORD_WITH_SLASH, `$1${MASK}@`);
}
