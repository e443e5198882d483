import { ProviderFailure } from '../../contract/index.js';
import { type ErrorDetail, HostError } from '../../errors.js';
import type { CheckedMode, RouteSchemas } from '../../modules/route-schemas.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import type { RequestFacts } from '../request.js';

const MAX_DETAILS = 20;

/** A response that violates the schema of its route. */
export class SchemaMismatch extends ProviderFailure {
  /** What violates it, below `data`. */
  readonly details: readonly ErrorDetail[];

  constructor(details: readonly ErrorDetail[], status: number) {
    const message = 'the response of the provider violates the schema of the route';
    const detail = `schema violated, ${details[0]?.reason ?? ''}`;
    super('protocol', message, { status, phase: 'answered', detail });
    this.details = details;
  }
}

/**
 * Checks the query and the body of a request.
 * @param target path and query as sent
 * @param body `null` where there is none: it is not checked
 * @throws HostError 400 in the mode `enforce`.
 */
export function enforceInput(
  { query, input }: RouteSchemas,
  target: string,
  body: Buffer | null,
  facts: RequestFacts,
): void {
  const ofQuery = query?.findViolations(target) ?? [];
  const ofBody = body === null ? [] : (input?.findViolations(body) ?? []);
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
    errors: details,
    nextActions: ['correct what errors names; GET /openapi.json has the schema'],
  });
}

/**
 * Checks the body of a 2xx.
 * @param isEmptyNull whether no body counts as `null`, as in the envelope, and is checked
 * @throws SchemaMismatch in the mode `enforce`.
 */
export function enforceOutput(
  { output }: RouteSchemas,
  { status, pieces, length }: CheckedOutcome,
  isEmptyNull: boolean,
  facts: RequestFacts,
): void {
  if (output === null || status < 200 || status > 299) return;
  if (length === 0 && !isEmptyNull) return;
  const body = length === 0 ? Buffer.from('null') : Buffer.concat(pieces, length);
  const violations = output.findViolations(body);
  if (violations.length === 0) return;
  const details = violations.map(({ pointer, reason }) => ({ field: pointer, reason }));
  record(facts, 'output', output.mode, details);
  if (output.mode === 'enforce') throw new SchemaMismatch(details, status);
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
