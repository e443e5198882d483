import type { AuditQuery } from '../../operations/status/list-audit.js';
import type { HostContext } from '../request-context.js';
import { integerParameter, moduleParameter, readQuery, timeParameter } from './query.js';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

const PARAMETERS = {
  module: moduleParameter,
  since: timeParameter,
  after: integerParameter('the id of a row', 0, Number.MAX_SAFE_INTEGER),
  limit: integerParameter(`a whole number from 1 to ${MAX_LIMIT}`, 1, MAX_LIMIT),
} as const;

/** `GET /audit?module=&since=&after=&limit=`. @throws HostError 400 that names the parameter. */
export function readAuditQuery(ctx: HostContext): AuditQuery {
  const { after, limit, ...query } = readQuery(ctx, PARAMETERS);
  return { ...query, after: after ?? 0, limit: limit ?? DEFAULT_LIMIT };
}
