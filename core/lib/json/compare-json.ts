import { equalNumbers } from './equal-numbers.js';
import type { ExactJson } from './exact-json.js';
import { enterPlace, type IgnoredPlaces } from './ignored-places.js';
import { escapeStep } from './json-pointer.js';
import { Noise } from './noise.js';

/**
 * - `missing`: the other document lacks it
 * - `extra`: only the other document has it
 * - `type`: null, boolean, number, text, list or object
 * - `value`
 */
export const DIFFERENCE_KINDS = ['missing', 'extra', 'type', 'value'] as const;

export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

export interface Difference {
  /** A JSON Pointer; it ends before the first step that has no room. */
  readonly pointer: string;
  readonly kind: DifferenceKind;
}

export interface CompareOptions {
  /** Which parsed both documents. */
  readonly json: ExactJson;
  readonly ignored: IgnoredPlaces;
  /** How the name of a member is shown in a pointer. */
  readonly showName: (name: string) => string;
}

/** The comparison was stopped at its limit. */
export class ComparisonTooCostly extends Error {
  override readonly name = 'ComparisonTooCostly';
}

export const MAX_DIFFERENCES = 20;
export const MAX_SHOWN_POINTER = 200;
/** Members and items, times the ignored places that may match there: a tenth of a second. */
const MAX_STEPS = 1_000_000;

type Key = string | number;

/** Where a pair of lists or objects is. */
interface Place {
  readonly parent: Place | null;
  readonly key: Key;
  readonly pointer: string;
  /** Whether the pointer has no room for a further step. */
  readonly isCut: boolean;
  readonly ignored: IgnoredPlaces;
  /** The noise that is known, or that is collected. */
  noise: Noise | null;
}

interface Pair {
  readonly live: object;
  readonly other: object;
  readonly place: Place;
}

/**
 * What differs, in the order of the live document but outer values first; at most {@link MAX_DIFFERENCES}. Members
 * have no order, numbers are compared by value, items by place.
 * @param noise what is not counted; default: nothing
 * @throws ComparisonTooCostly
 */
export function compareJson(
  live: unknown,
  other: unknown,
  options: CompareOptions,
  noise: Noise | null = null,
): readonly Difference[] {
  const found = new Map<string, Difference>();
  new Walk(options, noise, (place, key, kind) => {
    const isNoise = key === null ? place.noise?.isNoise : place.noise?.find(key)?.isNoise;
    if (isNoise === true) return true;
    const { pointer } = key === null ? place : appendStep(place, key, options.showName);
    found.set(`${kind}${pointer}`, { pointer, kind });
    return found.size < MAX_DIFFERENCES;
  }).run(live, other);
  return [...found.values()];
}

/**
 * The places where two answers to the same request differ.
 * @throws ComparisonTooCostly
 */
export function findNoise(live: unknown, again: unknown, options: CompareOptions): Noise {
  const root = new Noise();
  new Walk(options, root, (place, key) => {
    const node = collectedAt(place);
    (key === null ? node : node.enter(key)).isNoise = true;
    return true;
  }).run(live, again);
  return root;
}

/** Creates the nodes from the root down to the place; each only once. */
function collectedAt(place: Place): Noise {
  const missing: Place[] = [];
  let known: Place = place;
  while (known.noise === null && known.parent !== null) {
    missing.push(known);
    known = known.parent;
  }
  let node = known.noise ?? new Noise();
  for (let at = missing.pop(); at !== undefined; at = missing.pop()) {
    node = node.enter(at.key);
    at.noise = node;
  }
  return node;
}

/** @returns whether to go on; `key` is `null` for the place itself */
type Report = (place: Place, key: Key | null, kind: DifferenceKind) => boolean;

/** Walks without recursion: what is compared may be nested as deep as it is long. */
class Walk {
  readonly #options: CompareOptions;
  readonly #report: Report;
  readonly #root: Place;
  readonly #pending: Pair[] = [];
  #steps = 0;

  constructor(options: CompareOptions, noise: Noise | null, report: Report) {
    this.#options = options;
    this.#report = report;
    const { ignored } = options;
    this.#root = { parent: null, key: '', pointer: '', isCut: false, ignored, noise };
  }

  run(live: unknown, other: unknown): void {
    const kind = this.#compareShallow(live, other);
    if (kind !== null) this.#report(this.#root, null, kind);
    else if (hasParts(live, other))
      this.#pending.push({ live, other: other as object, place: this.#root });
    for (let pair = this.#pending.pop(); pair !== undefined; pair = this.#pending.pop()) {
      if (!this.#comparePair(pair)) return;
    }
  }

  /** @returns whether to go on */
  #comparePair({ live, other, place }: Pair): boolean {
    const isList = Array.isArray(live);
    const [ours, theirs] = [live, other] as [Record<Key, unknown>, Record<Key, unknown>];
    for (const key of isList ? live.keys() : Object.keys(live)) {
      const ignored = this.#enter(place, key);
      if (ignored === null) continue;
      if (!Object.hasOwn(theirs, key)) {
        if (!this.#report(place, key, 'missing')) return false;
        continue;
      }
      const kind = this.#compareShallow(ours[key], theirs[key]);
      if (kind !== null) {
        if (!this.#report(place, key, kind)) return false;
        continue;
      }
      const [inner, otherInner] = [ours[key], theirs[key]];
      if (!hasParts(inner, otherInner)) continue;
      const at = this.#createPlace(place, key, ignored);
      this.#pending.push({ live: inner, other: otherInner as object, place: at });
    }
    for (const key of isList ? (other as unknown[]).keys() : Object.keys(other)) {
      if (Object.hasOwn(ours, key) || this.#enter(place, key) === null) continue;
      if (!this.#report(place, key, 'extra')) return false;
    }
    return true;
  }

  #createPlace(parent: Place, key: Key, ignored: IgnoredPlaces): Place {
    const shown = appendStep(parent, key, this.#options.showName);
    return { parent, key, ...shown, ignored, noise: parent.noise?.find(key) ?? null };
  }

  /** `null` for a place that is ignored. */
  #enter({ ignored }: Place, key: Key): IgnoredPlaces | null {
    this.#steps += 1 + ignored.length;
    if (this.#steps > MAX_STEPS) throw new ComparisonTooCostly();
    return enterPlace(ignored, key);
  }

  /** `null` for what is equal, or has parts that are still to be compared. */
  #compareShallow(live: unknown, other: unknown): DifferenceKind | null {
    if (live === other) return null;
    const type = this.#typeOf(live);
    if (type !== this.#typeOf(other)) return 'type';
    if (type === 'list' || type === 'object') return null;
    if (type !== 'number') return 'value';
    return equalNumbers(this.#write(live), this.#write(other)) ? null : 'value';
  }

  #typeOf(value: unknown): string {
    if (value === null) return 'null';
    if (Array.isArray(value)) return 'list';
    if (typeof value !== 'string') return typeof value;
    return this.#options.json.readDigits(value) === null ? 'text' : 'number';
  }

  #write(number: unknown): string {
    return this.#options.json.readDigits(number) ?? String(number);
  }
}

/** Compares values of the same type. */
function hasParts(live: unknown, other: unknown): live is object {
  if (typeof live !== 'object' || live === null) return false;
  return !Array.isArray(live) || live.length > 0 || (other as unknown[]).length > 0;
}

function appendStep(
  { pointer, isCut }: Pick<Place, 'pointer' | 'isCut'>,
  key: Key,
  showName: CompareOptions['showName'],
): Pick<Place, 'pointer' | 'isCut'> {
  if (isCut) return { pointer, isCut };
  const shown = typeof key === 'number' ? String(key) : showName(key);
  const longer = `${pointer}/${escapeStep(shown)}`;
  return longer.length > MAX_SHOWN_POINTER
    ? { pointer, isCut: true }
    : { pointer: longer, isCut: false };
}
