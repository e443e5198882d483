import { type Checker, type CheckerSource, type KeywordCheck, violates } from './checker.js';
import { Evaluated } from './evaluated.js';
import { compileApplicators } from './keywords/applicators.js';
import { compileArrayKeywords, compileUnevaluatedItems } from './keywords/arrays.js';
import { compileObjectKeywords, compileUnevaluatedProperties } from './keywords/objects.js';
import {
  compileNumberKeywords,
  compileStringKeywords,
  compileValueKeywords,
} from './keywords/scalars.js';

/** Kinds of JSON values, as indexes. */
const KINDS = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const;
const NUMBER = 2;
const STRING = 3;
const ARRAY = 4;
const OBJECT = 5;
const ALL_KINDS = (1 << KINDS.length) - 1;

/** Compiling the keywords of a schema costs as much as visiting this number of parts. */
const COST_OF_COMPILING = 2000;

interface Program {
  /** A bit for each kind that `type` allows. */
  readonly kinds: number;
  /** Whether numbers have to be integers. */
  readonly isInteger: boolean;
  readonly expected: string;
  /** The keywords that apply to each kind. */
  readonly checks: readonly (readonly KeywordCheck[])[];
  readonly hasUnevaluated: boolean;
}

/** Checks one schema object; its keywords are compiled at the first check. */
export class SubschemaChecker implements Checker {
  readonly #schema: Readonly<Record<string, unknown>>;
  readonly #source: CheckerSource;
  readonly #isRecursive: boolean;
  #program: Program | null = null;

  constructor(
    schema: Readonly<Record<string, unknown>>,
    source: CheckerSource,
    isRecursive: boolean,
  ) {
    this.#schema = schema;
    this.#source = source;
    this.#isRecursive = isRecursive;
  }

  // A single function without iterators: each level of a value uses some of the stack.
  readonly check: KeywordCheck = (value, run, place, outer) => {
    run.spend();
    // Two keywords may lead a recursive schema to the same value, at each level again.
    const isRecalled =
      this.#isRecursive && outer === null && typeof value === 'object' && value !== null;
    const recalled = isRecalled ? run.recall(this, value) : undefined;
    if (recalled === true || (recalled === false && place === null)) return recalled;
    if (this.#program === null) run.look(COST_OF_COMPILING);
    const program = this.#program ?? this.#compiled();
    const kind = kindOf(value);
    if (!allowsType(program, kind, value)) return violates(run, place, program.expected);
    const seen = program.hasUnevaluated ? new Evaluated(run) : outer;
    const checks = program.checks[kind] as readonly KeywordCheck[];
    let isValid = true;
    for (let index = 0; index < checks.length; index += 1) {
      if (checks[index]?.(value, run, place, seen)) continue;
      isValid = false;
      if (place === null || run.isFull) break;
    }
    if (isRecalled) run.remember(this, value, isValid);
    if (isValid && seen !== null && seen !== outer) outer?.merge(seen);
    return isValid;
  };

  acceptsKind(value: unknown): boolean {
    const { kinds } = this.#compiled();
    return (kinds & (1 << kindOf(value))) !== 0;
  }

  #compiled(): Program {
    this.#program ??= compileProgram(this.#schema, this.#source);
    return this.#program;
  }
}

function kindOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return STRING;
    case 'number':
      return NUMBER;
    case 'boolean':
      return 1;
    default:
      if (value === null) return 0;
      return Array.isArray(value) ? ARRAY : OBJECT;
  }
}

function allowsType({ kinds, isInteger }: Program, kind: number, value: unknown): boolean {
  if ((kinds & (1 << kind)) === 0) return false;
  return kind !== NUMBER || !isInteger || Number.isInteger(value);
}

function compileProgram(schema: Readonly<Record<string, unknown>>, source: CheckerSource): Program {
  const all = [...compileValueKeywords(schema), ...compileApplicators(schema, source)];
  const checks: (readonly KeywordCheck[])[] = KINDS.map(() => all);
  checks[NUMBER] = [...all, ...(compileNumberKeywords(schema) as KeywordCheck[])];
  checks[STRING] = [...all, ...(compileStringKeywords(schema, source) as KeywordCheck[])];
  checks[ARRAY] = [
    ...all,
    ...(compileArrayKeywords(schema, source) as KeywordCheck[]),
    ...(compileUnevaluatedItems(schema, source) as KeywordCheck[]),
  ];
  checks[OBJECT] = [
    ...all,
    ...(compileObjectKeywords(schema, source) as KeywordCheck[]),
    ...(compileUnevaluatedProperties(schema, source) as KeywordCheck[]),
  ];
  const hasUnevaluated = 'unevaluatedItems' in schema || 'unevaluatedProperties' in schema;
  return { ...compileType(schema['type']), checks, hasUnevaluated };
}

function compileType(type: unknown): Pick<Program, 'kinds' | 'isInteger' | 'expected'> {
  if (type === undefined) return { kinds: ALL_KINDS, isInteger: false, expected: '' };
  const names = Array.isArray(type) ? (type as readonly string[]) : [type as string];
  const kinds = names.reduce((bits, name) => {
    return bits | (1 << (name === 'integer' ? NUMBER : KINDS.indexOf(name as 'null')));
  }, 0);
  const isInteger = names.includes('integer') && !names.includes('number');
  return { kinds, isInteger, expected: `expected ${names.join(' or ')}` };
}
