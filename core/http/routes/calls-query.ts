import type { CallQuery } from '../../operations/status/call-record.js';
import type { HostContext } from '../request-context.js';
import { integerParameter, moduleParameter, readQuery, timeParameter } from './query.js';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const MIN_STATUS = 100;
const MAX_STATUS = 599;

/** 64 workers with at most 25 characters each. */
const MAX_CURSOR_LENGTH = 2048;

const PARAMETERS = {
  module: moduleParameter,
  status: integerParameter(`a status, ${MIN_STATUS} to ${MAX_STATUS}`, MIN_STATUS, MAX_STATUS),
  since: timeParameter,
  limit: integerParameter(`a whole number from 1 to ${MAX_LIMIT}`, 1, MAX_LIMIT),
  cursor: {
    expected: 'the next_cursor of an earlier page',
    parse: (text: string) => (text.length <= MAX_CURSOR_LENGTH && text !== '' ? text : null),
  },
} as const;

/** `GET /calls?module=&status=&since=&limit=&cursor=`. @throws HostError 400 that names the parameter. */
export function readCallQuery(ctx: HostContext): CallQuery {
  const { limit, ...query } = readQuery(ctx, PARAMETERS);
  return { ...query, requestId: null, limit: limit ?? DEFAULT_LIMIT };
}
