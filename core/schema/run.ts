import { formatPointer, type JsonPath } from '../lib/json/json-pointer.js';
import { StructuralIds } from './structural-ids.js';

/**
 * A place in a checked value, as a list from the inside out: it is only built for invalid values.
 */
export interface Place {
  readonly parent: Place | null;
  readonly key: string | number;
}

/** A violation of a schema, without the value. */
export interface SchemaViolation {
  /** A JSON Pointer into the value. */
  readonly pointer: string;
  /** The expected value. */
  readonly reason: string;
}

export const MAX_VIOLATIONS = 20;
/** Names in a pointer come from the client. */
export const MAX_POINTER_LENGTH = 4096;
export interface CheckLimits {
  /** Subschemas applied to parts of the value. */
  readonly steps: number;
  /** Members, items and names that keywords visit. */
  readonly looks: number;
}

/** A check on the event loop takes at most some 10 ms. */
export const INLINE_CHECK: CheckLimits = { steps: 10_000, looks: 200_000 };
/** A check for which others wait takes at most some 100 ms. */
export const SHORT_CHECK: CheckLimits = { steps: 150_000, looks: 3_000_000 };
/** The maximum for any value: some seconds, so only a separate thread may reach it. */
export const FULL_CHECK: CheckLimits = { steps: 3_000_000, looks: 50_000_000 };
/** Listing a name costs as much as visiting this number of names. */
const COST_OF_LISTING = 4;
/** Characters times instructions of a pattern that count as one step. */
const PATTERN_WORK_PER_STEP = 32;

/** The check was stopped at its limits: a schema may apply thousands of subschemas to each part of a value. */
export class CheckTooCostly extends Error {
  override readonly name = 'CheckTooCostly';
}

/** The reason for a member whose name violates `propertyNames`. */
export const OTHER_NAME = 'expected another name';

export const ROOT: Place = { parent: null, key: '' };

/** The state of one check of one value. */
export class Run {
  #violations: SchemaViolation[] = [];
  #steps: number;
  #looks: number;
  #named: object | null = null;
  #names: readonly string[] = [];
  #ids: StructuralIds | null = null;
  #known: Map<object, Map<object, boolean>> | null = null;

  constructor({ steps, looks }: CheckLimits) {
    this.#steps = steps;
    this.#looks = looks;
  }

  get violations(): readonly SchemaViolation[] {
    return this.#violations;
  }

  get isFull(): boolean {
    return this.#violations.length >= MAX_VIOLATIONS;
  }

  /** The ids that distinguish values for `uniqueItems`. */
  get ids(): StructuralIds {
    this.#ids ??= new StructuralIds((parts) => this.look(parts));
    return this.#ids;
  }

  /** @throws CheckTooCostly */
  spend(steps = 1): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new CheckTooCostly();
  }

  /** Counts the parts that a keyword visits besides its subschemas. @throws CheckTooCostly */
  look(parts: number): void {
    this.#looks -= parts;
    if (this.#looks < 0) throw new CheckTooCostly();
  }

  /**
   * The names of the members of an object, cached for the next keyword, since listing them takes
   * long.
   */
  namesOf(value: object): readonly string[] {
    if (this.#named !== value) {
      this.#names = Object.keys(value);
      this.#named = value;
      this.look(this.#names.length * COST_OF_LISTING);
    }
    return this.#names;
  }

  /** @throws CheckTooCostly */
  spendOnPattern(length: number, size: number): void {
    this.spend((length * size) / PATTERN_WORK_PER_STEP);
  }

  report(place: Place, reason: string): void {
    if (this.isFull) return;
    const pointer = formatPointer(toPath(place)).slice(0, MAX_POINTER_LENGTH);
    this.#violations.push({ pointer, reason });
  }

  /** Whether a violation is known at a place or below it. */
  hasReported(pointer: string): boolean {
    return this.#violations.some((violation) => {
      return violation.pointer === pointer || violation.pointer.startsWith(`${pointer}/`);
    });
  }

  /** Runs a part of the check whose violations may be dropped. @returns the reported violations */
  collect(part: () => void): readonly SchemaViolation[] {
    const before = this.#violations;
    this.#violations = [];
    part();
    const collected = this.#violations;
    this.#violations = before;
    return collected;
  }

  add(violations: readonly SchemaViolation[]): void {
    this.#violations = [...this.#violations, ...violations].slice(0, MAX_VIOLATIONS);
  }

  /** Whether a schema is known to accept a value; recursive schemas may visit one several times. */
  recall(schema: object, value: object): boolean | undefined {
    return this.#known?.get(schema)?.get(value);
  }

  remember(schema: object, value: object, isValid: boolean): void {
    this.#known ??= new Map();
    const results = this.#known.get(schema) ?? new Map<object, boolean>();
    this.#known.set(schema, results.set(value, isValid));
  }
}

export function toPath(start: Place): JsonPath {
  const path: (string | number)[] = [];
  for (let place = start; place.parent !== null; place = place.parent) path.push(place.key);
  return path.reverse();
}
