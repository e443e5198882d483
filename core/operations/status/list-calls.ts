import { HostError, PROBLEMS } from '../../errors.js';
import { ACTOR_ID } from '../../lib/actor-name.js';
import { STEP_NAMES } from '../../steps.js';
import type { StatusRange } from '../../store/call-log.js';
import { FLEET, NO_FLEET } from '../fleet/fleet.js';
import { HOST_ID } from '../fleet/host-id.js';
import { defineListing } from '../listing.js';
import {
  createQueryError,
  limitParameter,
  moduleParameter,
  namesParameter,
  patternParameter,
  timeParameter,
  wordParameter,
} from '../query.js';
import { CLIENT_ID } from '../request.js';
import { defineResource } from '../resource.js';
import { rethrowStoreError } from '../store-error.js';
import {
  CALL_RECORDS,
  type CallPage,
  type CallQuery,
  type CallRecords,
  toWireCall,
} from './call-record.js';
import { callList } from './call-struct.js';
import { CALL_GROUPS, GROUP_KEYS, groupCalls } from './group-calls.js';

const ACTOR = new RegExp(`^(?:service|system|user|anonymous):${ACTOR_ID.source.slice(1)}`, 'u');
const STATUS = /^[1-5](?:\d\d|xx)$/;
const ROUTE = /^(?:([A-Z]{1,20}) )?(\/[^\s]{0,2047})$/;

/** 64 workers with two parts of at most 25 characters each. */
const MAX_CURSOR_LENGTH = 4096;

const BY_USAGE = 'use by without a cursor: all calls that match are counted';

/** Lists recent calls, newest first, or counts them. */
export const CALLS = defineResource({
  text: '[records of calls](../operate/observability.md#calls), which [Call record](call-record.md) lists; with `by` it counts them: `{groups, truncated}`',
  query: {
    module: { ...moduleParameter, help: 'Only calls of this module' },
    route: {
      expected: 'a template such as /items/{id} or GET /items/{id}',
      parse: (text: string) => {
        const [, method = null, route] = ROUTE.exec(text) ?? [];
        return route === undefined ? null : { method, route };
      },
      help: 'Only calls of this route, such as "GET /items/{id}"',
    },
    status: {
      expected: 'a status such as 404, or a class such as 5xx',
      parse: parseStatus,
      help: 'Only calls with this status, such as 404 or 5xx',
    },
    request_id: {
      ...patternParameter('a request id, 1 to 128 of A-Z a-z 0-9 . _ : -', CLIENT_ID),
      help: 'Only calls with this request id',
      placeholder: 'id',
    },
    actor: {
      ...patternParameter('an actor as service:crm-sync', ACTOR),
      help: 'Only calls of this actor, such as service:crm-sync',
    },
    host: {
      ...patternParameter('the id of a host of the fleet, as GET /fleet lists it', HOST_ID),
      help: 'Only calls that this host of the fleet answered',
      placeholder: 'id',
    },
    code: {
      ...wordParameter('the code of a Problem', Object.keys(PROBLEMS)),
      help: 'Only calls that were rejected with this code of a Problem',
    },
    step: {
      ...wordParameter('a step of a request', STEP_NAMES),
      help: 'Only calls that this step rejected',
    },
    since: {
      ...timeParameter,
      help: 'Only calls since 2026-01-31T12:00:00Z, or in the last 10m',
    },
    until: {
      ...timeParameter,
      help: 'Only calls before 2026-01-31T12:00:00Z, or more than 10m ago',
    },
    by: {
      ...namesParameter(GROUP_KEYS),
      help: `Count the calls by these: ${GROUP_KEYS.join(',')}`,
      placeholder: 'keys',
    },
    limit: { ...limitParameter, help: 'Maximum number of calls, 1 to 1000 (default: 100)' },
    cursor: {
      expected: 'the next_cursor of an earlier page',
      parse: (text: string) => (text.length <= MAX_CURSOR_LENGTH && text !== '' ? text : null),
    },
  },
  listing: defineListing({
    struct: callList,
    rows: 'calls',
    title: 'Calls, newest first',
    columns: {
      at: { title: 'Time', as: 'time', isMinor: true },
      status: { title: 'Status', as: 'status' },
      module: { title: 'Module', isMinor: true },
      method: { title: 'Method', only: 'command' },
      route: { title: 'Route' },
      duration_ms: { title: 'Duration', as: 'ms', isMinor: true },
      provider_ms: { title: 'Provider', as: 'ms', only: 'command' },
      attempts: { title: 'Attempts', as: 'number', only: 'command' },
      actor: { title: 'Actor', isMinor: true },
      failure: { title: 'Failure', detail: 'failure_detail' },
      client: { title: 'Client', only: 'page', isMinor: true },
      request_id: { title: 'Request', only: 'command' },
      host: { title: 'Host', only: 'page', isSparse: true, isMinor: true },
    },
    more: [CALL_GROUPS],
  }),
  needs: [CALL_RECORDS, FLEET],
  answer: async ({ query: { by, route, ...selected } }, records, fleet) => {
    const query = { ...selected, route: route?.route ?? null, method: route?.method ?? null };
    if (by !== null) {
      if (query.cursor !== null) throw createQueryError('cursor', 'not allowed with by', BY_USAGE);
      return groupCalls((page) => readCalls(records, page), query, by);
    }
    const page = await readCalls(records, query);
    if (page === null) throw createUnknownCursor();
    return {
      calls: page.calls.map(toWireCall),
      next_cursor: page.next,
      // Callers behind a load balancer cannot know which host answers.
      ...(fleet !== NO_FLEET && { hosts: page.areOfAllHosts ? 'all' : 'one' }),
    };
  },
});

/** `404` is one status, `5xx` every status of the class. */
function parseStatus(text: string): StatusRange | null {
  if (!STATUS.test(text)) return null;
  return [Number(text.replace('xx', '00')), Number(text.replace('xx', '99'))];
}

/**
 * @returns `null` for an unknown cursor.
 * @throws HostError 503 when the store is not available.
 */
export async function readCalls(records: CallRecords, query: CallQuery): Promise<CallPage | null> {
  try {
    return await records.list(query);
  } catch (error) {
    return rethrowStoreError(error);
  }
}

function createUnknownCursor(): HostError {
  return new HostError('validation_failed', 'unknown cursor', {
    errors: [{ field: 'cursor', reason: 'not the next_cursor of an earlier page' }],
    nextActions: ['start again without a cursor'],
  });
}
