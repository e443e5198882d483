import { ProviderFailure } from '../../contract/index.js';
import { QueueFull } from '../../contract/semaphore.js';
import { type ErrorDetail, HostError } from '../../errors.js';
import { nameActor } from '../../lib/actor-name.js';
import type { CheckedMode, RouteSchemas } from '../../modules/route-schemas.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import { createOverload, withStatus } from '../../provider/rejected-call.js';
import type { QueryViolation } from '../../schema/query-schema.js';
import type { SchemaViolation } from '../../schema/run.js';
import type { CheckCaller } from '../../schema/schema-checks.js';
import type { CallerRequest, RequestFacts } from '../request.js';

const MAX_DETAILS = 20;

/** A response violates the schema of its route. */
export class SchemaMismatch extends ProviderFailure {
  /** The violations, below `data`. */
  readonly details: readonly ErrorDetail[];

  constructor(details: readonly ErrorDetail[], status: number) {
    const message = 'the response of the provider violates the schema of the route';
    const detail = `schema violated, ${details[0]?.reason ?? ''}`;
    super('protocol', message, { status, phase: 'answered', detail });
    this.details = details;
  }
}

/** The caller of the check, and the place of its result. */
type CheckedRequest = Pick<CallerRequest, 'actor' | 'signal' | 'facts' | 'mask'>;

/**
 * Validates the query and the body of a request. Returns a promise only if a check takes long.
 * @param target path and query as sent
 * @param body `null` for none, which is not validated
 * @throws HostError 400 in the mode `enforce`; RejectedCall when too many checks take long.
 */
export function enforceInput(
  schemas: RouteSchemas,
  target: string,
  body: Buffer | null,
  request: CheckedRequest,
): void | Promise<void> {
  const { query, input } = schemas;
  const caller = createCaller(request);
  const ofQuery = query?.findViolations(target, caller) ?? [];
  const ofBody = (body !== null && input?.findViolations(body, caller)) || [];
  if (!(ofQuery instanceof Promise || ofBody instanceof Promise)) {
    return rejectInput(schemas, ofQuery, ofBody, request.facts);
  }
  return Promise.all([ofQuery, ofBody]).then(
    ([one, other]) => rejectInput(schemas, one, other, request.facts),
    (error: unknown) => {
      throw translateQueueFull(error);
    },
  );
}

function createCaller({ actor, signal }: CheckedRequest): CheckCaller {
  return { actor: nameActor(actor), signal };
}

function translateQueueFull(error: unknown, status: number | null = null): unknown {
  if (!(error instanceof QueueFull)) return error;
  const rejected = createOverload('schema-checks', 'too many checks of schemas wait');
  return status === null ? rejected : withStatus(rejected, status);
}

function rejectInput(
  { query, input }: RouteSchemas,
  ofQuery: readonly QueryViolation[],
  ofBody: readonly SchemaViolation[],
  facts: RequestFacts,
): void {
  const details = [
    ...ofQuery.map(({ name, reason }) => ({
      field: name === null ? 'query' : `query.${name}`,
      reason,
    })),
    ...ofBody.map(({ pointer, reason }) => ({ field: pointer, reason })),
  ].slice(0, MAX_DETAILS);
  const mode = query?.mode ?? input?.mode;
  if (details.length === 0 || mode === undefined) return;
  record(facts, 'input', mode, details);
  if (mode === 'report') return;
  throw new HostError('validation_failed', 'the request violates the schema of the route', {
    step: ofQuery.length > 0 ? 'query' : 'body',
    errors: details,
    nextActions: ['correct what errors names; GET /openapi.json has the schema'],
  });
}

/**
 * Validates the body of a 2xx. Returns a promise only if the check takes long.
 * @param isEmptyNull whether an absent body counts as `null`, as in the envelope, and is validated
 * @throws SchemaMismatch in the mode `enforce`; RejectedCall when too many checks take long.
 */
export function enforceOutput(
  { output }: RouteSchemas,
  { status, pieces, length }: CheckedOutcome,
  isEmptyNull: boolean,
  request: CheckedRequest,
): void | Promise<void> {
  if (output === null || status < 200 || status > 299) return;
  if (length === 0 && !isEmptyNull) return;
  const body = length === 0 ? Buffer.from('null') : Buffer.concat(pieces, length);
  const violations = output.findViolations(body, createCaller(request));
  if (!(violations instanceof Promise)) {
    return rejectOutput(output.mode, violations, status, request);
  }
  return violations.then(
    (violations) => rejectOutput(output.mode, violations, status, request),
    (error: unknown) => {
      throw translateQueueFull(error, status);
    },
  );
}

function rejectOutput(
  mode: CheckedMode,
  violations: readonly SchemaViolation[],
  status: number,
  request: CheckedRequest,
): void {
  if (violations.length === 0) return;
  const details = violations.map(({ pointer, reason }) => ({
    field: request.mask(pointer),
    reason,
  }));
  record(request.facts, 'output', mode, details);
  if (mode === 'enforce') throw new SchemaMismatch(details, status);
}

function record(
  facts: RequestFacts,
  direction: 'input' | 'output',
  mode: CheckedMode,
  details: readonly ErrorDetail[],
): void {
  facts.schemaViolations ??= [];
  facts.schemaViolations.push({ direction, mode, details });
}
