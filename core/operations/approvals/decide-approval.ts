import { enums, object } from 'superstruct';
import type { AnyStruct } from '../../contract/described.js';
import { validateStruct } from '../../document/validate.js';
import { HostError } from '../../errors.js';
import { createToken, injectable } from '../../injection.js';
import type { Decision } from '../../store/approvals.js';
import type { Store, StoredApproval } from '../../store/store.js';
import { assertJson } from '../forward/body-policy.js';
import { STORE } from '../injection-tokens.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';
import { describeApproval } from './approval-content.js';
import { APPROVALS_SCOPE, ApprovalHandler, createUnknownApproval } from './approval-handler.js';

/** Whether users may decide about their own requests. */
export const MAY_APPROVE_OWN = createToken<boolean>('may-approve-own');

interface DecisionInput {
  readonly id: string;
  readonly decision: Decision;
}

/** Handles `POST /approvals/{id}`: a person approves or rejects, once. */
@injectable(STORE, MAY_APPROVE_OWN)
export class DecideApproval extends ApprovalHandler implements Handler<DecisionInput> {
  readonly #mayApproveOwn: boolean;

  constructor(store: Store, mayApproveOwn: boolean) {
    super(store);
    this.#mayApproveOwn = mayApproveOwn;
  }

  async execute({ id, decision }: DecisionInput, request: CallerRequest): Promise<Reply> {
    const authorization = this.authorize(request);
    const { kind, id: actorId } = request.actor;
    if (kind !== 'user') throw createForbidden('only a user can decide about requests', 'caller');
    const approval = await this.read(id);
    if (!this.#mayApproveOwn && isOwn(approval, request)) {
      throw createForbidden('a user cannot decide about their own request', 'actor');
    }
    const { requestId, correlationId } = request;
    const audit = { permission: APPROVALS_SCOPE, requestId, correlationId };
    const result = await this.approvals
      .decide(id, decision, { kind, id: actorId }, audit)
      .catch(rethrowStoreError);
    if (result.outcome === 'decided') {
      return Reply.json(authorization, describeApproval(result.approval));
    }
    throw result.outcome === 'unknown' ? createUnknownApproval() : createConflict();
  }
}

function isOwn({ actor }: StoredApproval, request: CallerRequest): boolean {
  return actor.kind === request.actor.kind && actor.id === request.actor.id;
}

function createForbidden(detail: string, field: string): HostError {
  return new HostError('forbidden', detail, {
    errors: [{ field, reason: 'may not decide' }],
    nextActions: ['ask another person with the scope modgate.approvals'],
  });
}

function createConflict(): HostError {
  return new HostError('conflict', 'the request was already decided', {
    nextActions: ['see GET /approvals for its state'],
  });
}

const decisionBody = object({ decision: enums(['approve', 'reject']) });
const MAX_BODY_BYTES = 1024;

/** Parses `{"decision": "approve"}`. @throws HostError 400. */
export function parseDecision(body: Buffer): Decision {
  assertJson(body);
  const value: unknown = body.length > MAX_BODY_BYTES ? null : JSON.parse(body.toString('utf8'));
  const { violations } = validateStruct(value, decisionBody as AnyStruct);
  const [violation] = violations;
  if (violation === undefined) return (value as { decision: Decision }).decision;
  throw new HostError('validation_failed', 'the body is not a decision', {
    errors: [{ field: violation.path.join('.') || 'body', reason: violation.message }],
    nextActions: ['send {"decision": "approve"} or {"decision": "reject"}'],
  });
}
