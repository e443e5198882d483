import { MODULE_NAME } from '../../descriptor/identifiers.js';
import { HostError } from '../../errors.js';
import type { CallQuery } from '../../operations/status/call-record.js';
import type { HostContext } from '../request-context.js';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const MIN_STATUS = 100;
const MAX_STATUS = 599;

// RFC 3339 with a zone: without one the time depends on the machine.
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/i;
/** 64 workers with at most 25 characters each. */
const MAX_CURSOR_LENGTH = 2048;
const MAX_NAME_LENGTH = 64;

/** Parsers of the parameters. They return `null` for a text other than `expected`. */
const PARAMETERS = {
  module: {
    expected: 'the name of a module',
    parse: (text: string) => matching(text, MODULE_NAME),
  },
  status: {
    expected: `a status, ${MIN_STATUS} to ${MAX_STATUS}`,
    parse: (text: string) => integer(text, MIN_STATUS, MAX_STATUS),
  },
  since: {
    expected: 'a time as 2026-01-31T12:00:00Z',
    parse: (text: string) => (TIME.test(text) ? finite(Date.parse(text)) : null),
  },
  limit: {
    expected: `a whole number from 1 to ${MAX_LIMIT}`,
    parse: (text: string) => integer(text, 1, MAX_LIMIT),
  },
  cursor: {
    expected: 'the next_cursor of an earlier page',
    parse: (text: string) => (text.length <= MAX_CURSOR_LENGTH && text !== '' ? text : null),
  },
} as const;

type ParameterName = keyof typeof PARAMETERS;

/** `GET /calls?module=&status=&since=&limit=&cursor=`. @throws HostError 400 that names the parameter. */
export function readCallQuery(ctx: HostContext): CallQuery {
  const query = new URLSearchParams(ctx.querystring);
  for (const name of query.keys()) {
    if (!Object.hasOwn(PARAMETERS, name))
      throw createQueryError(name.slice(0, MAX_NAME_LENGTH), 'unknown');
  }
  return {
    module: readParameter(query, 'module'),
    status: readParameter(query, 'status'),
    since: readParameter(query, 'since'),
    limit: readParameter(query, 'limit') ?? DEFAULT_LIMIT,
    cursor: readParameter(query, 'cursor'),
  };
}

function readParameter<Name extends ParameterName>(
  query: URLSearchParams,
  name: Name,
): ReturnType<(typeof PARAMETERS)[Name]['parse']> | null {
  const [text, ...others] = query.getAll(name);
  if (text === undefined) return null;
  if (others.length > 0) throw createQueryError(name, 'repeated');
  const { expected, parse } = PARAMETERS[name];
  const value = parse(text) as ReturnType<(typeof PARAMETERS)[Name]['parse']>;
  if (value === null) throw createQueryError(name, `not ${expected}`);
  return value;
}

function matching(text: string, pattern: RegExp): string | null {
  return pattern.test(text) ? text : null;
}

function integer(text: string, min: number, max: number): number | null {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : null;
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function createQueryError(field: string, reason: string): HostError {
  return new HostError('validation_failed', 'a parameter of the query is not valid', {
    errors: [{ field, reason }],
    nextActions: [`use ${Object.keys(PARAMETERS).join(', ')}`],
  });
}
