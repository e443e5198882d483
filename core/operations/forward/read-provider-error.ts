import type { ErrorDetail } from '../../errors.js';
import { parseJson } from '../../lib/json/json-bytes.js';
import { isMapping } from '../../lib/read-member.js';
import type { Mask } from '../../lib/secrets/mask-secrets.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import { isJsonResponse } from './provider-response.js';

/** The forwarded parts of the provider's error. */
interface ProviderErrorTexts {
  /** `null` if it has none. */
  readonly detail: string | null;
  readonly errors: readonly ErrorDetail[];
}

type Members = Readonly<Record<string, unknown>>;

/** The first member with a text is used; `error` may be an object with further ones. */
const DETAIL_MEMBERS = ['detail', 'message', 'error', 'title'];
const NESTED_DETAIL_MEMBERS = ['message', 'detail', 'title'];
/** Lists of objects with a field and a reason. */
const LIST_MEMBERS = ['errors', 'violations', 'details', 'invalid-params', 'detail'];
const FIELD_MEMBERS = ['field', 'path', 'param', 'pointer', 'loc', 'name'];
const REASON_MEMBERS = ['message', 'msg', 'detail', 'reason'];
/** Objects from a field to its reasons. */
const MAP_MEMBERS = ['errors', 'fields'];

/** A longer body is not parsed. Bytes. */
const MAX_PARSED_BYTES = 1_048_576;
const MAX_ENTRIES = 100;
const MAX_TEXT_CHARACTERS = 1000;
const MAX_FIELD_CHARACTERS = 200;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]+/g;
const NOTHING: ProviderErrorTexts = { detail: null, errors: [] };

/**
 * Reads an error body of the usual shapes. Texts have no control characters and are shortened.
 * @param mask replaces credentials, before a text is shortened
 */
export function readProviderError(
  { headers, pieces, length }: CheckedOutcome,
  mask: Mask,
): ProviderErrorTexts {
  if (!isJsonResponse(headers) || length > MAX_PARSED_BYTES) return NOTHING;
  const { value: problem } = parseJson(Buffer.concat(pieces));
  if (!isMapping(problem)) return NOTHING;
  const clean: CleanText = (value, maxCharacters) => {
    if (typeof value !== 'string') return null;
    // An adapter may have cut a text that is as long as those that are shown.
    const isCut = value.length >= maxCharacters;
    const text = mask(value.replace(CONTROL_CHARACTERS, ' ').trim(), isCut);
    return text === '' ? null : truncate(text, maxCharacters);
  };
  return { detail: readDetail(problem, clean), errors: readEntries(problem, clean) };
}

/** Returns `null` for any value except a text with visible characters. */
type CleanText = (value: unknown, maxCharacters: number) => string | null;

function readDetail(problem: Members, clean: CleanText): string | null {
  for (const name of DETAIL_MEMBERS) {
    const value = memberOf(problem, name);
    const detail =
      name === 'error' && isMapping(value)
        ? findText(value, NESTED_DETAIL_MEMBERS, clean)
        : clean(value, MAX_TEXT_CHARACTERS);
    if (detail !== null) return detail;
  }
  return null;
}

function readEntries(problem: Members, clean: CleanText): ErrorDetail[] {
  const nested = memberOf(problem, 'error');
  const entries: ErrorDetail[] = [];
  for (const members of isMapping(nested) ? [problem, nested] : [problem]) {
    for (const entry of listEntries(members, clean)) {
      if (entries.length === MAX_ENTRIES) return entries;
      entries.push(entry);
    }
  }
  return entries;
}

function* listEntries(members: Members, clean: CleanText): Generator<ErrorDetail> {
  for (const name of LIST_MEMBERS) {
    const list = memberOf(members, name);
    for (const entry of Array.isArray(list) ? list : []) {
      const reason = isMapping(entry) ? findText(entry, REASON_MEMBERS, clean) : null;
      if (reason !== null) yield { field: findField(entry, clean), reason };
    }
  }
  for (const name of MAP_MEMBERS) {
    const map = memberOf(members, name);
    if (!isMapping(map)) continue;
    for (const field of Object.keys(map)) {
      for (const value of [map[field]].flat()) {
        const reason = clean(value, MAX_TEXT_CHARACTERS);
        if (reason !== null) yield { field: clean(field, MAX_FIELD_CHARACTERS), reason };
      }
    }
  }
}

function findText(members: Members, names: readonly string[], clean: CleanText): string | null {
  for (const name of names) {
    const text = clean(memberOf(members, name), MAX_TEXT_CHARACTERS);
    if (text !== null) return text;
  }
  return null;
}

/** A path may be a list, such as `["body", "items", 0]`. */
function findField(entry: Members, clean: CleanText): string | null {
  for (const name of FIELD_MEMBERS) {
    const value = memberOf(entry, name);
    const field = clean(isPath(value) ? value.join('.') : value, MAX_FIELD_CHARACTERS);
    if (field !== null) return field;
  }
  return null;
}

function isPath(value: unknown): value is readonly (string | number)[] {
  return (
    Array.isArray(value) &&
    value.every((step) => typeof step === 'string' || typeof step === 'number')
  );
}

function memberOf(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Counts code points, so that no surrogate pair is split. */
function truncate(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return Array.from(text).slice(0, maxCharacters).join('');
}
