import { enums, object, optional, refine, string } from 'superstruct';
import type { AnyStruct } from '../../contract/described.js';
import { escapeLine } from '../../contract/index.js';
import { validateStruct } from '../../document/validate.js';
import { HostError } from '../../errors.js';
import { createToken } from '../../injection.js';
import { skipMark } from '../../lib/byte-order-mark.js';
import type { Decision } from '../../store/approvals.js';
import { isSameActor } from '../authorization.js';
import { STORE } from '../injection-tokens.js';
import { defineResource } from '../resource.js';
import { rethrowStoreError } from '../store-error.js';
import { describeApproval } from './approval-content.js';
import { APPROVAL_ID, createUnknownApproval, requireApproval } from './read-approvals.js';

/** Allows a caller to read requests for approval and to decide about them. */
const APPROVALS_SCOPE = 'modgate.approvals';

/** Whether users may decide about their own requests. */
export const MAY_APPROVE_OWN = createToken<boolean>('may-approve-own');

/** A person approves or rejects, once. */
export const DECISION = defineResource({
  text: '`{"decision": "approve"}` or `{"decision": "reject", "reason": TEXT}`, but not by the user who asked; the reason is optional, has at most 500 characters, and is shown to the agent; 409 once decided',
  ids: APPROVAL_ID,
  needs: [STORE, MAY_APPROVE_OWN],
  answer: async ({ params: { id = '' }, body, request }, store, mayApproveOwn) => {
    const decision = parseDecision(body.join());
    const { actor, requestId, correlationId } = request;
    const approval = await requireApproval(store, id);
    if (
      !mayApproveOwn &&
      isSameActor({ kind: approval.actor_kind, id: approval.actor_id }, actor)
    ) {
      throw new HostError('forbidden', 'a user cannot decide about their own request', {
        errors: [{ field: 'actor', reason: 'may not decide' }],
        nextActions: ['ask another person with the scope modgate.approvals'],
      });
    }
    const audit = { permission: APPROVALS_SCOPE, requestId, correlationId };
    const result = await store.approvals
      .decide(id, decision, { kind: actor.kind, id: actor.id }, audit)
      .catch(rethrowStoreError);
    if (result.outcome === 'decided') return describeApproval(result.approval);
    throw result.outcome === 'unknown' ? createUnknownApproval() : createConflict();
  },
});

function createConflict(): HostError {
  return new HostError('conflict', 'the request was already decided', {
    nextActions: ['see GET /approvals for its state'],
  });
}

/** Enough for several sentences. Code points. */
const MAX_REASON = 500;

const reason = refine(
  string(),
  'reason',
  (text) => [...text].length <= MAX_REASON || `expected at most ${MAX_REASON} characters`,
);

const decisionBody = object({
  decision: enums(['approve', 'reject']),
  reason: optional(reason),
});

type DecisionBody = Pick<Decision, 'decision'> & { readonly reason?: string };

/** @throws HostError 400. */
function parseDecision(body: Buffer): Decision {
  const value: unknown = JSON.parse(skipMark(body).toString('utf8'));
  const { violations } = validateStruct(value, decisionBody as AnyStruct);
  const [violation] = violations;
  if (violation !== undefined) {
    throw createInvalid(violation.path.join('.') || 'body', violation.message);
  }
  const { decision, reason } = value as DecisionBody;
  if (decision === 'reject') return { decision, reason: reason ? escapeLine(reason) : null };
  if (reason !== undefined) throw createInvalid('reason', 'expected none of an approval');
  return { decision };
}

function createInvalid(field: string, reason: string): HostError {
  return new HostError('validation_failed', 'the body is not a decision', {
    errors: [{ field, reason }],
    nextActions: ['send {"decision": "approve"}, or {"decision": "reject"} with a reason'],
  });
}
