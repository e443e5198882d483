import { DIGEST, MODULE_NAME } from '../../descriptor/identifiers.js';
import { HostError } from '../../errors.js';
import { parseTime } from '../../lib/parse-time.js';
import type { HostContext } from '../request-context.js';

/** A parameter of a query. */
interface Parameter<T> {
  /** Completes `not …`. */
  readonly expected: string;
  /** Returns `null` for an invalid text. */
  readonly parse: (text: string) => T | null;
  /** Whether it may be repeated; its value is then a list. */
  readonly isList?: true;
}

type Parameters = Readonly<Record<string, Parameter<unknown>>>;

type Values<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends { readonly isList: true }
    ? readonly NonNullable<ReturnType<P[Name]['parse']>>[] | null
    : ReturnType<P[Name]['parse']>;
};

const MAX_NAME_LENGTH = 64;

export const moduleParameter: Parameter<string> = {
  expected: 'the name of a module',
  parse: (text) => (MODULE_NAME.test(text) ? text : null),
};

export const servedParameter: Parameter<string> = {
  expected: 'the name of a module or a digest',
  parse: (text) => (MODULE_NAME.test(text) || DIGEST.test(text) ? text : null),
};

export const digestParameter: Parameter<string> = {
  expected: 'a digest',
  parse: (text) => (DIGEST.test(text) ? text : null),
};

export const timeParameter: Parameter<number> = {
  expected: 'a time as 2026-01-31T12:00:00Z',
  parse: (text) => {
    const time = parseTime(text);
    return Number.isFinite(time) ? time : null;
  },
};

export function integerParameter(expected: string, min: number, max: number): Parameter<number> {
  return {
    expected,
    parse: (text) => {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : null;
    },
  };
}

/**
 * Reads the parameters of a query; an absent one is `null`.
 * @param usage the next action for an invalid query
 * @throws HostError 400 that names an unknown, repeated or invalid parameter.
 */
export function readQuery<P extends Parameters>(
  ctx: HostContext,
  parameters: P,
  usage = `use ${Object.keys(parameters).join(', ')}`,
): Values<P> {
  const query = new URLSearchParams(ctx.querystring);
  for (const name of query.keys()) {
    if (Object.hasOwn(parameters, name)) continue;
    throw createQueryError(name.slice(0, MAX_NAME_LENGTH), 'unknown', usage);
  }
  const values = Object.entries(parameters).map(([name, { expected, parse, isList = false }]) => {
    const texts = query.getAll(name);
    if (texts.length === 0) return [name, null];
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
