import type { Failure } from 'superstruct';
import { type AnyStruct, mayBeAbsent } from '../contract/described.js';
import { describePath, MAX_DIAGNOSTICS, type Path, type Violation } from './diagnostic.js';
import { explainFailure, explainUnion, explainUnknownKey } from './explain-failure.js';
import { readValid, UNDECIDED } from './read-valid.js';

export interface ValidationResult {
  /** The value with the struct's defaults; valid only without violations. */
  readonly value: unknown;
  readonly violations: readonly Violation[];
  /**
   * The accepted parts of a value with violations, for further checks: rejected optional members
   * are omitted, rejected items of a list are holes, and members of the root may be missing.
   */
  readonly accepted: unknown;
}

/** Validates a value. No message quotes it. `prefix` is the path of the value in its document. */
export function validateStruct(
  value: unknown,
  struct: AnyStruct,
  prefix: Path = [],
): ValidationResult {
  try {
    const valid = readValid(value, struct);
    if (valid !== UNDECIDED) return { value: valid, violations: [], accepted: valid };
    const [error, coerced] = struct.validate(value, { coerce: true });
    if (error === undefined) return { value: coerced, violations: [], accepted: coerced };
    const walk = new Walk(prefix);
    const { accepted } = walk.visit({ path: [], branch: [value], value, struct });
    return { value, violations: walk.violations, accepted: accepted ?? null };
  } catch {
    // The struct of a plugin may throw for an unexpected value; its message may contain the value.
    const message = `${describePath(prefix)} cannot be validated: the check of the plugin failed`;
    const failed: Violation = {
      rule: 'check-failed',
      message,
      hint: null,
      path: prefix,
      at: 'value',
    };
    return { value, violations: [failed], accepted: null };
  }
}

interface Place {
  readonly path: Path;
  /** The values from the root to this one, as `dynamic` structs expect them. */
  readonly branch: readonly unknown[];
  readonly value: unknown;
  readonly struct: AnyStruct;
}

interface Visited {
  readonly status: 'valid' | 'not_refined' | 'not_valid';
  /** Includes defaults and rejected parts. */
  readonly value: unknown;
  /** `undefined` if no part is accepted. */
  readonly accepted: unknown;
}

/** Visits a value in the order of superstruct, and continues after the first failure. */
class Walk {
  readonly violations: Violation[] = [];
  readonly #prefix: Path;

  constructor(prefix: Path) {
    this.#prefix = prefix;
  }

  visit(place: Place): Visited {
    const { struct, path, branch } = place;
    const context = { path: [...path], branch: [...branch], mask: false };
    const value = struct.coercer(place.value, context);
    const failures = [...struct.validator(value, context)];
    if (failures.length > 0) {
      this.#report(failures, place);
      return { status: 'not_valid', value, accepted: undefined };
    }
    const members = new Members(value, path.length === 0);
    this.#visitMembers({ ...place, value }, members);
    if (members.status === 'not_valid') return members.result();
    const unrefined = [...struct.refiner(members.value, context)];
    if (unrefined.length === 0) return members.result();
    this.#report(unrefined, place);
    return { status: 'not_refined', value: members.value, accepted: undefined };
  }

  #visitMembers({ path, branch, value, struct }: Place, members: Members): void {
    const knownKeys = new Map<string, AnyStruct>();
    const context = { path: [...path], branch: [...branch], mask: false };
    for (const [key, member, memberStruct] of struct.entries(value, context)) {
      if (this.violations.length >= MAX_DIAGNOSTICS) {
        members.rejectOthers(knownKeys);
        return;
      }
      const child = memberStruct as AnyStruct;
      const memberPath = [...path, key];
      if (child.type === 'never' && typeof key === 'string') {
        this.#add(explainUnknownKey(key, [...this.#prefix, ...memberPath], knownKeys));
        members.reject(key, true, 'not_valid');
        continue;
      }
      knownKeys.set(String(key), child);
      const place = { path: memberPath, branch: [...branch, member], value: member, struct: child };
      const visited = this.visit(place);
      members.set(key, visited);
      if (visited.accepted === undefined && visited.status !== 'valid') {
        const isDispensable = struct.type === 'record' || mayBeAbsent(child);
        members.reject(key, isDispensable, visited.status);
      } else if (visited.status !== 'valid') members.lower(visited.status);
    }
  }

  /** Reports each path once, and for a union only the branch that accepted most of the value. */
  #report(failures: readonly Failure[], place: Place): void {
    const { path } = place;
    const [first] = failures;
    if (first === undefined) return;
    const branches = failures.filter((failure) => failure.path.length === path.length);
    const isUnion = branches.some(({ type }) => type === 'union');
    const deeper = isUnion && !Array.isArray(first.value) ? selectDeepest(failures, path) : [];
    if (deeper.length > 0) {
      for (const failure of deeper) this.#add(this.#explain(failure, place));
    } else if (isUnion) {
      const isQuotable = acceptsQuoted(first, place);
      this.#add(explainUnion(first, branches, this.#prefix, isQuotable));
    } else {
      for (const failure of selectDistinct(failures)) this.#add(this.#explain(failure, place));
    }
  }

  #explain(failure: Failure, place: Place): Violation {
    return explainFailure(failure, this.#prefix, acceptsQuoted(failure, place));
  }

  #add(violation: Violation): void {
    if (this.violations.length < MAX_DIAGNOSTICS) this.violations.push(violation);
  }
}

/** Whether a number or boolean would be accepted as text. */
function acceptsQuoted({ path, value }: Failure, { path: start, ...place }: Place): boolean {
  if (typeof value !== 'number' && typeof value !== 'boolean') return false;
  const quoted = replaceAt(place.value, path.slice(start.length) as Path, String(value));
  // As in `visit`, because a dynamic struct may depend on the values around it.
  const context = { path: [...start], branch: [...place.branch], mask: false };
  const key = JSON.stringify(path);
  const failures = [...place.struct.validator(quoted, context)];
  const others = failures.length > 0 ? failures : place.struct.refiner(quoted, context);
  return [...others].every((failure) => JSON.stringify(failure.path) !== key);
}

function replaceAt(value: unknown, [key, ...rest]: Path, text: string): unknown {
  if (key === undefined) return text;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string | number,
    unknown
  >;
  copy[key] = replaceAt(copy[key], rest, text);
  return copy;
}

/** The members of a list or mapping, with and without the rejected ones. */
class Members {
  status: Visited['status'] = 'valid';
  readonly value: unknown;
  readonly #accepted: unknown;
  readonly #isRoot: boolean;
  readonly #rejected = new Set<string | number>();
  #isRejected = false;

  constructor(value: unknown, isRoot: boolean) {
    this.value = value;
    this.#accepted = Array.isArray(value) ? [...value] : isMapping(value) ? { ...value } : value;
    this.#isRoot = isRoot;
  }

  set(key: string | number, { value, accepted }: Visited): void {
    if (!isMapping(this.value)) return;
    if (value !== undefined || key in this.value) this.value[key] = value;
    if (accepted !== undefined && !this.#rejected.has(key) && isMapping(this.#accepted)) {
      this.#accepted[key] = accepted;
    }
  }

  reject(key: string | number, isDispensable: boolean, status: Visited['status']): void {
    this.lower(status);
    this.#rejected.add(key);
    if (isMapping(this.#accepted)) delete this.#accepted[key];
    if (!isDispensable && !Array.isArray(this.value) && !this.#isRoot) this.#isRejected = true;
  }

  /** Rejects the members that were not visited. */
  rejectOthers(visited: ReadonlyMap<string, unknown>): void {
    this.lower('not_valid');
    if (!this.#isRoot) this.#isRejected = true;
    else if (isMapping(this.#accepted)) {
      for (const key of Object.keys(this.#accepted)) {
        if (!visited.has(key)) delete this.#accepted[key];
      }
    }
  }

  lower(status: Visited['status']): void {
    if (this.status !== 'not_valid') this.status = status;
  }

  result(): Visited {
    const accepted = this.#isRejected ? undefined : this.#accepted;
    return { status: this.status, value: this.value, accepted };
  }
}

function isMapping(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null;
}

function selectDeepest(failures: readonly Failure[], path: Path): Failure[] {
  return selectDistinct(failures.filter((failure) => failure.path.length > path.length));
}

/** The first failure of each path, except those inside a value of the wrong type. */
function selectDistinct(failures: readonly Failure[]): Failure[] {
  const keyOf = (path: Path) => JSON.stringify(path);
  const wrong = new Set(
    failures.filter(({ refinement }) => refinement === undefined).map(({ path }) => keyOf(path)),
  );
  const seen = new Set<string>();
  return failures.filter(({ path }) => {
    const isInside = path.some((_, length) => wrong.has(keyOf(path.slice(0, length))));
    if (isInside || seen.has(keyOf(path))) return false;
    seen.add(keyOf(path));
    return true;
  });
}
