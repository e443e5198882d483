import { equalNumbers } from './equal-numbers.js';
import type { ExactJson } from './exact-json.js';
import { enterPlace, type IgnoredPlaces } from './ignored-places.js';
import { escapeStep } from './json-pointer.js';

/**
 * - `missing`: the other document lacks it
 * - `extra`: only the other document has it
 * - `type`: null, boolean, number, text, list or object
 * - `value`
 */
const DIFFERENCE_KINDS = ['missing', 'extra', 'type', 'value'] as const;

type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

export interface Difference {
  /** A JSON Pointer; it ends before the first step that would exceed its maximum length. */
  readonly pointer: string;
  readonly kind: DifferenceKind;
}

interface CompareOptions {
  /** The instance that parsed both documents. */
  readonly json: ExactJson;
  readonly ignored: IgnoredPlaces;
  /** Formats the name of a member for a pointer. */
  readonly showName: (name: string) => string;
}

/** The places at which two responses to one request differ. All items of a list are one place. */
class Noise {
  isNoise = false;
  #items: Noise | null = null;
  #members: Map<string, Noise> | null = null;

  /** Returns `undefined` if nothing below differs. */
  find(key: string | number): Noise | undefined {
    return typeof key === 'number' ? (this.#items ?? undefined) : this.#members?.get(key);
  }

  /** Returns the same node, and creates a missing one. */
  enter(key: string | number): Noise {
    const child = this.find(key);
    if (child !== undefined) return child;
    const created = new Noise();
    if (typeof key === 'number') this.#items = created;
    else {
      this.#members ??= new Map();
      this.#members.set(key, created);
    }
    return created;
  }
}

/** The comparison was stopped at its limit. */
export class ComparisonTooCostly extends Error {
  override readonly name = 'ComparisonTooCostly';
}

export const MAX_DIFFERENCES = 20;
export const MAX_SHOWN_POINTER = 200;
/**
 * The maximum of members and items, times the ignored places that may match there: a tenth of a
 * second.
 */
const MAX_STEPS = 1_000_000;

type Key = string | number;

/** The place of a pair of lists or objects. */
interface Place {
  readonly parent: Place | null;
  readonly key: Key;
  readonly pointer: string;
  /** Whether the pointer cannot have further steps. */
  readonly isCut: boolean;
  readonly ignored: IgnoredPlaces;
  /** The known noise, or the noise that is collected. */
  noise: Noise | null;
}

interface Pair {
  readonly live: object;
  readonly other: object;
  readonly place: Place;
}

/**
 * Lists the differences, in the order of the live document but outer values first; at most {@link
 * MAX_DIFFERENCES}. Members have no order, numbers are compared by value, items by index.
 * @param noise differences to ignore; default none
 * @throws ComparisonTooCostly
 */
export function compareJson(
  live: unknown,
  other: unknown,
  options: CompareOptions,
  noise: Noise | null = null,
): readonly Difference[] {
  const differences = new Map<string, Difference>();
  new Walk(options, noise, (place, key, kind) => {
    const isNoise = key === null ? place.noise?.isNoise : place.noise?.find(key)?.isNoise;
    if (isNoise === true) return true;
    const { pointer } = key === null ? place : appendStep(place, key, options.showName);
    differences.set(`${kind}${pointer}`, { pointer, kind });
    return differences.size < MAX_DIFFERENCES;
  }).run(live, other);
  return [...differences.values()];
}

/**
 * Finds the places at which two responses to the same request differ.
 * @throws ComparisonTooCostly
 */
export function findNoise(live: unknown, repeated: unknown, options: CompareOptions): Noise {
  const root = new Noise();
  new Walk(options, root, (place, key) => {
    const node = collectedAt(place);
    (key === null ? node : node.enter(key)).isNoise = true;
    return true;
  }).run(live, repeated);
  return root;
}

/** Creates the nodes from the root to the place, each once. */
function collectedAt(place: Place): Noise {
  const missing: Place[] = [];
  let ancestor: Place = place;
  while (ancestor.noise === null && ancestor.parent !== null) {
    missing.push(ancestor);
    ancestor = ancestor.parent;
  }
  let node = ancestor.noise ?? new Noise();
  for (let missingPlace = missing.pop(); missingPlace !== undefined; missingPlace = missing.pop()) {
    node = node.enter(missingPlace.key);
    missingPlace.noise = node;
  }
  return node;
}

/** @returns whether to continue; `key` is `null` for the place itself */
type Report = (place: Place, key: Key | null, kind: DifferenceKind) => boolean;

/** Walks without recursion, because documents may be nested as deeply as they are long. */
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

  /** @returns whether to continue */
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
      const child = this.#createPlace(place, key, ignored);
      this.#pending.push({ live: inner, other: otherInner as object, place: child });
    }
    for (const key of isList ? (other as unknown[]).keys() : Object.keys(other)) {
      if (Object.hasOwn(ours, key) || this.#enter(place, key) === null) continue;
      if (!this.#report(place, key, 'extra')) return false;
    }
    return true;
  }

  #createPlace(parent: Place, key: Key, ignored: IgnoredPlaces): Place {
    const step = appendStep(parent, key, this.#options.showName);
    return { parent, key, ...step, ignored, noise: parent.noise?.find(key) ?? null };
  }

  /** Returns `null` for an ignored place. */
  #enter({ ignored }: Place, key: Key): IgnoredPlaces | null {
    this.#steps += 1 + ignored.length;
    if (this.#steps > MAX_STEPS) throw new ComparisonTooCostly();
    return enterPlace(ignored, key);
  }

  /** Returns `null` for equal values, and for values whose parts must still be compared. */
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
  const stepName = typeof key === 'number' ? String(key) : showName(key);
  const longer = `${pointer}/${escapeStep(stepName)}`;
  return longer.length > MAX_SHOWN_POINTER
    ? { pointer, isCut: true }
    : { pointer: longer, isCut: false };
}
