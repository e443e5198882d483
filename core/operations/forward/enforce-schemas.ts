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
import type { ReadCall } from './responses/response-form.js';

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

/** The parts of a request besides its body that schemas describe. */
interface CheckedTarget {
  /** Path and query as sent. */
  readonly target: string;
  /** The decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Validates path, query and body of a request. Returns a promise only if a check takes long.
 * @param body `null` for none, which is not validated
 * @throws HostError 400 in the mode `enforce`; RejectedCall when too many checks take long.
 */
export function enforceInput(
  schemas: RouteSchemas,
  { target, params }: CheckedTarget,
  body: Buffer | null,
  request: CheckedRequest,
): void | Promise<void> {
  const { path, query, input } = schemas;
  const caller = createCaller(request);
  const ofPath = path?.findViolations(writeForm(params), caller) ?? [];
  const ofQuery = query?.findViolations(queryOf(target), caller) ?? [];
  const ofBody = (body !== null && input?.findViolations(body, caller)) || [];
  const reject = (
    inPath: readonly QueryViolation[],
    inQuery: readonly QueryViolation[],
    inBody: readonly SchemaViolation[],
  ) => {
    const texts = [...nameParts('path', inPath), ...nameParts('query', inQuery)];
    const ofValue = inBody.map(({ pointer, reason }) => ({ field: pointer, reason }));
    return rejectInput(schemas, texts, ofValue, request.facts);
  };
  if (!(ofPath instanceof Promise || ofQuery instanceof Promise || ofBody instanceof Promise)) {
    return reject(ofPath, ofQuery, ofBody);
  }
  return Promise.all([ofPath, ofQuery, ofBody]).then(
    (found) => reject(...found),
    (error: unknown) => {
      throw translateQueueFull(error);
    },
  );
}

/** Writes values so that they are read as those of a query. */
function writeForm(params: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(params);
  return pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
}

function queryOf(target: string): string {
  const start = target.indexOf('?');
  return start === -1 ? '' : target.slice(start + 1);
}

function nameParts(part: 'path' | 'query', violations: readonly QueryViolation[]): ErrorDetail[] {
  return violations.map(({ name, reason }) => {
    return { field: name === null ? part : `${part}.${name}`, reason };
  });
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
  { path, query, input }: RouteSchemas,
  ofTexts: readonly ErrorDetail[],
  ofBody: readonly ErrorDetail[],
  facts: RequestFacts,
): void {
  const details = [...ofTexts, ...ofBody].slice(0, MAX_DETAILS);
  const mode = path?.mode ?? query?.mode ?? input?.mode;
  if (details.length === 0 || mode === undefined) return;
  record(facts, 'input', mode, details);
  if (mode === 'report') return;
  throw new HostError('validation_failed', 'the request violates the schema of the route', {
    step: ofTexts.length > 0 ? 'query' : 'body',
    errors: details,
    nextActions: ['correct what errors names; GET /openapi.json has the schema'],
  });
}

/**
 * Validates the body of a 2xx. In the envelope an absent body counts as `null`.
 * @returns the response; a promise only if the check takes long
 * @throws SchemaMismatch in the mode `enforce`; RejectedCall when too many checks take long.
 */
export function checkOutput<T>(
  { matched: { module, match }, request }: ReadCall,
  { status, pieces, length }: CheckedOutcome,
  response: T,
): T | Promise<T> {
  const output = match.value.schemas?.output ?? null;
  if (output === null || status < 200 || status > 299) return response;
  if (length === 0 && module.descriptor.responses.mode === 'raw') return response;
  const body = length === 0 ? Buffer.from('null') : Buffer.concat(pieces, length);
  const violations = output.findViolations(body, createCaller(request));
  if (!(violations instanceof Promise)) {
    rejectOutput(output.mode, violations, status, request);
    return response;
  }
  return violations.then(
    (found) => {
      rejectOutput(output.mode, found, status, request);
      return response;
    },
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
