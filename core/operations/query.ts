import { DIGEST, MODULE_NAME } from '../descriptor/identifiers.js';
import { HostError } from '../errors.js';
import { parseTime } from '../lib/parse-time.js';

export interface Parameter<T = unknown> {
  /** Completes `not …`. */
  readonly expected: string;
  /** Returns `null` for an invalid text. */
  readonly parse: (text: string) => T | null;
  /** Whether it may be repeated; its value is then a list. */
  readonly isList?: true;
  readonly isRequired?: true;
  /** The value without the parameter. */
  readonly fallback?: T;
  /** The help of its option on the command line; without it there is none. */
  readonly help?: string;
  /** Whether the command line accepts an age as well, such as 10m. */
  readonly isTime?: true;
  /** What stands for the value in help. Default: the name of the parameter. */
  readonly placeholder?: string;
}

export type Parameters = Readonly<Record<string, Parameter>>;

/** Present values are not `null`; those of required parameters and with a fallback never are. */
export type Values<P extends Parameters> = {
  readonly [Name in keyof P]:
    | NonNullable<ValueOf<P[Name]>>
    | (P[Name] extends { readonly isRequired: true } | { readonly fallback: unknown }
        ? never
        : null);
};

type ValueOf<P extends Parameter> = P extends { readonly isList: true }
  ? readonly NonNullable<ReturnType<P['parse']>>[]
  : ReturnType<P['parse']>;

const MAX_NAME_LENGTH = 64;
/** Node.js throws and catches an error for each value that is not UTF-8, which takes a while. */
const MAX_PARAMETERS = 1_000;

export const moduleParameter = {
  expected: 'the name of a module',
  parse: (text: string) => (MODULE_NAME.test(text) ? text : null),
  placeholder: 'name',
} satisfies Parameter<string>;

export const servedParameter: Parameter<string> = {
  expected: 'the name of a module or a digest',
  parse: (text) => (MODULE_NAME.test(text) || DIGEST.test(text) ? text : null),
};

export const digestParameter: Parameter<string> = {
  expected: 'a digest',
  parse: (text) => (DIGEST.test(text) ? text : null),
};

export const timeParameter = {
  expected: 'a time as 2026-01-31T12:00:00Z',
  parse: (text: string) => {
    const time = parseTime(text);
    return Number.isFinite(time) ? time : null;
  },
  placeholder: 'time',
  isTime: true,
} satisfies Parameter<number>;

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export const limitParameter = {
  ...integerParameter(`a whole number from 1 to ${MAX_LIMIT}`, 1, MAX_LIMIT),
  fallback: DEFAULT_LIMIT,
};

export function integerParameter(expected: string, min: number, max: number) {
  return {
    expected,
    parse: (text: string) => {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : null;
    },
    placeholder: 'number',
  } satisfies Parameter<number>;
}

export function wordParameter(expected: string, words: readonly string[]) {
  const parse = (text: string) => (words.includes(text) ? text : null);
  return { expected, parse } satisfies Parameter<string>;
}

export function patternParameter(expected: string, pattern: RegExp) {
  const parse = (text: string) => (pattern.test(text) ? text : null);
  return { expected, parse } satisfies Parameter<string>;
}

/** Names of a list, separated by commas. */
export function namesParameter<Name extends string>(names: readonly Name[]) {
  return {
    expected: `some of ${names.join(', ')}, each once`,
    parse: (text: string) => {
      const parts = text.split(',') as Name[];
      const isDistinct = new Set(parts).size === parts.length;
      return isDistinct && parts.every((part) => names.includes(part)) ? parts : null;
    },
  } satisfies Parameter<readonly Name[]>;
}

/**
 * Reads the parameters of a query; an absent one is its fallback, or `null`.
 * @param usage the next action for an invalid query
 * @throws HostError 400 that names an unknown, repeated, missing or invalid parameter.
 */
export function readQuery<P extends Parameters>(
  querystring: string,
  parameters: P,
  usage = `use ${Object.keys(parameters).join(', ')}`,
): Values<P> {
  const pairs = querystring.split('&', MAX_PARAMETERS + 1);
  if (pairs.length > MAX_PARAMETERS) {
    throw createQueryError('query', `more than ${MAX_PARAMETERS} parameters`, usage);
  }
  const query = new URLSearchParams(querystring);
  for (const name of query.keys()) {
    if (Object.hasOwn(parameters, name)) continue;
    throw createQueryError(name.slice(0, MAX_NAME_LENGTH), 'unknown', usage);
  }
  const values = Object.entries(parameters).map(([name, parameter]) => {
    const { expected, parse, isList = false, isRequired = false, fallback = null } = parameter;
    const texts = query.getAll(name);
    if (texts.length === 0 && isRequired) throw createQueryError(name, 'missing', usage);
    if (texts.length === 0) return [name, fallback];
    if (texts.length > 1 && !isList) throw createQueryError(name, 'repeated', usage);
    const list = texts.map(parse);
    if (list.includes(null)) throw createQueryError(name, `not ${expected}`, usage);
    return [name, isList ? list : list[0]];
  });
  return Object.fromEntries(values) as Values<P>;
}

export function createQueryError(field: string, reason: string, usage: string): HostError {
  return new HostError('validation_failed', 'a parameter of the query is not valid', {
    step: 'query',
    errors: [{ field, reason }],
    nextActions: [usage],
  });
}
