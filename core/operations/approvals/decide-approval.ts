import { enums, object } from 'superstruct';
import type { AnyStruct } from '../../contract/described.js';
import { validateStruct } from '../../document/validate.js';
import { HostError } from '../../errors.js';
import { createToken, injectable } from '../../injection.js';
import type { Decision } from '../../store/approvals.js';
import type { Store, StoredApproval } from '../../store/store.js';
import { authorize } from '../authorization.js';
import { assertJson } from '../forward/body-policy.js';
import { STORE } from '../injection-tokens.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';
import { describeApproval } from './approval-content.js';
import { APPROVALS_SCOPE, createUnknownApproval } from './read-approvals.js';

/** Whether users may decide about their own requests. */
export const MAY_APPROVE_OWN = createToken<boolean>('may-approve-own');

export interface DecisionInput {
  readonly id: string;
  readonly decision: Decision;
}

/** `POST /approvals/{id}`: a person approves or rejects, once. */
@injectable(STORE, MAY_APPROVE_OWN)
export class DecideApproval implements Handler<DecisionInput> {
  readonly #store: Store;
  readonly #mayApproveOwn: boolean;

  constructor(store: Store, mayApproveOwn: boolean) {
    this.#store = store;
    this.#mayApproveOwn = mayApproveOwn;
  }

  async execute({ id, decision }: DecisionInput, request: CallerRequest): Promise<Reply> {
    const { actor, requestId, correlationId } = request;
    const authorization = authorize(actor, { kind: 'scope', scope: APPROVALS_SCOPE });
    if (actor.kind !== 'user')
      throw createForbidden('only a user decides about requests', 'caller');
    const { approvals } = this.#store;
    const approval = await approvals.get(id).catch(rethrowStoreError);
    if (approval === null) throw createUnknownApproval();
    if (!this.#mayApproveOwn && isOwn(approval, request)) {
      throw createForbidden('nobody decides about their own request', 'actor');
    }
    const audit = { permission: APPROVALS_SCOPE, requestId, correlationId };
    const { kind, id: actorId } = actor;
    const decider = { kind, id: actorId };
    const result = await approvals.decide(id, decision, decider, audit).catch(rethrowStoreError);
    if (result === 'unknown') throw createUnknownApproval();
    if (result === 'conflict') throw createConflict();
    const decided = await approvals.get(id).catch(rethrowStoreError);
    return Reply.json(authorization, describeApproval(decided ?? approval));
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
  return new HostError('conflict', 'the request was decided already', {
    nextActions: ['see GET /approvals for its state'],
  });
}

const decisionBody = object({ decision: enums(['approve', 'reject']) });
const MAX_BODY_BYTES = 1024;

/** `{"decision": "approve"}`. @throws HostError 400. */
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
