import { PROBLEMS } from '../../errors.js';
import type { Purge } from '../../operations/cache/entry-index.js';
import { parsePurgedPath } from '../../operations/cache/purged-path.js';
import { HOST_ID } from '../../operations/fleet/host-id.js';
import type { CallQuery } from '../../operations/status/call-record.js';
import type { AuditQuery } from '../../operations/status/list-audit.js';
import type { OpenApiQuery } from '../../operations/status/read-openapi.js';
import { STEP_NAMES } from '../../steps.js';
import { CLIENT_ID } from '../request/caller-headers.js';
import type { HostContext } from '../request-context.js';
import {
  createQueryError,
  integerParameter,
  moduleParameter,
  readQuery,
  timeParameter,
} from './query.js';

const ACTOR = /^(?:service|system|user|anonymous):[A-Za-z0-9._@-]{1,128}$/;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const MIN_STATUS = 100;
const MAX_STATUS = 599;

/** 64 workers with two parts of at most 25 characters each. */
const MAX_CURSOR_LENGTH = 4096;

const limitParameter = integerParameter(`a whole number from 1 to ${MAX_LIMIT}`, 1, MAX_LIMIT);

const CALLS = {
  module: moduleParameter,
  status: integerParameter(`a status, ${MIN_STATUS} to ${MAX_STATUS}`, MIN_STATUS, MAX_STATUS),
  request_id: {
    expected: 'a request id, 1 to 128 of A-Z a-z 0-9 . _ : -',
    parse: (text: string) => (CLIENT_ID.test(text) ? text : null),
  },
  actor: {
    expected: 'an actor as service:crm-sync',
    parse: (text: string) => (ACTOR.test(text) ? text : null),
  },
  host: {
    expected: 'the id of a host of the fleet, as GET /fleet lists it',
    parse: (text: string) => (HOST_ID.test(text) ? text : null),
  },
  code: wordParameter('the code of a Problem', Object.keys(PROBLEMS)),
  step: wordParameter('a step of a request', STEP_NAMES),
  since: timeParameter,
  limit: limitParameter,
  cursor: {
    expected: 'the next_cursor of an earlier page',
    parse: (text: string) => (text.length <= MAX_CURSOR_LENGTH && text !== '' ? text : null),
  },
} as const;

function wordParameter(expected: string, words: readonly string[]) {
  return { expected, parse: (text: string) => (words.includes(text) ? text : null) };
}

/** Reads the query of `GET /calls`. @throws HostError 400 that names the parameter. */
export function readCallQuery(ctx: HostContext): CallQuery {
  const { limit, ...query } = readQuery(ctx, CALLS);
  return { ...query, limit: limit ?? DEFAULT_LIMIT };
}

/** Reads `GET /approvals?limit=`. @throws HostError 400. */
export function readApprovalsQuery(ctx: HostContext): number {
  return readQuery(ctx, { limit: limitParameter }).limit ?? DEFAULT_LIMIT;
}

const AUDIT = {
  module: moduleParameter,
  since: timeParameter,
  after: integerParameter('the id of a row', 0, Number.MAX_SAFE_INTEGER),
  limit: limitParameter,
} as const;

/**
 * Reads `GET /audit?module=&since=&after=&limit=`. @throws HostError 400 that names the parameter.
 */
export function readAuditQuery(ctx: HostContext): AuditQuery {
  const { after, limit, ...query } = readQuery(ctx, AUDIT);
  return { ...query, after: after ?? 0, limit: limit ?? DEFAULT_LIMIT };
}

const CALLABLE = new Map([
  ['true', true],
  ['false', false],
]);

const MOUNT_USAGE = 'use module and mount, and host where the mount has one';

const OPENAPI = {
  module: { ...moduleParameter, isList: true },
  callable: { expected: 'true or false', parse: (text: string) => CALLABLE.get(text) ?? null },
  mount: {
    expected: 'the path of a mount',
    parse: (text: string) => (text.startsWith('/') ? text : null),
  },
  host: { expected: 'the host of a mount', parse: (text: string) => text || null },
} as const;

/**
 * Reads `GET /openapi.json?module=&callable=&mount=&host=`; `module` may be repeated, without
 * `mount`.
 * @throws HostError 400.
 */
export function readOpenApiQuery(ctx: HostContext): OpenApiQuery {
  const { module: modules, callable, mount: path, host } = readQuery(ctx, OPENAPI);
  if (path === null && host !== null)
    throw createQueryError('host', 'only with mount', MOUNT_USAGE);
  if (path !== null && modules?.length !== 1) {
    throw createQueryError('mount', 'only with one module', MOUNT_USAGE);
  }
  const mount = path === null ? null : { path, ...(host !== null && { host }) };
  return { modules: modules && new Set(modules), callable: callable ?? false, mount };
}

const PURGE = {
  module: moduleParameter,
  path: {
    expected:
      'a path as it was called, without its query, such as /items/7, or /items/* for all below',
    parse: parsePurgedPath,
  },
} as const;

/** Reads the query of `DELETE /cache`. @throws HostError 400 that names the parameter. */
export function readPurgeQuery(ctx: HostContext): Purge {
  const { module, path } = readQuery(ctx, PURGE);
  if (module === null) throw createQueryError('module', 'missing', 'use module');
  return { module, path: path?.path ?? null, isPrefix: path?.isPrefix ?? false };
}
