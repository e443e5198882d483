import { any, nullable, object, optional, record, string } from 'superstruct';
import type { AnyStruct } from '../../contract/described.js';
import { validateStruct } from '../../document/validate.js';
import { HostError } from '../../errors.js';
import { parseStrictJson, sliceMember } from '../../lib/json/json-structure.js';

/** A call of an operation, as a surface sends it. */
export interface OperationRequest {
  readonly module: string;
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The bytes of the arguments. */
  readonly json: Buffer;
}

const MAX_DEPTH = 128;
const NO_ARGUMENTS = Buffer.from('{}');

const request = object({
  module: string(),
  operation: string(),
  arguments: optional(record(string(), any())),
  tool: optional(nullable(string())),
});

/**
 * Parses `{module, operation, arguments}`.
 * @throws HostError 400 for any other JSON, and for duplicate members.
 */
export function parseOperationRequest(body: Buffer): OperationRequest {
  const { value, problems } = parseStrictJson(body, MAX_DEPTH, 1);
  const [problem] = problems;
  if (problem !== undefined) throw createRequestError(problem.problem);
  const validated = validateStruct(value, request as AnyStruct);
  const [violation] = validated.violations;
  if (violation !== undefined) throw createRequestError(violation.message);
  const parsed = validated.value as Omit<OperationRequest, 'json'>;
  const json = sliceMember(body, 'arguments') ?? NO_ARGUMENTS;
  return {
    module: parsed.module,
    operation: parsed.operation,
    arguments: parsed.arguments ?? {},
    json,
  };
}

export function createRequestError(reason: string, field = 'body'): HostError {
  return new HostError('validation_failed', 'the body is not a call of an operation', {
    errors: [{ field, reason }],
    nextActions: ['send {module, operation, arguments}'],
  });
}
