import type { StoredApproval } from '../../store/approvals.js';
import type { Authorization } from '../authorization.js';
import { JSON_TYPE, Reply } from '../reply.js';

/** Ends a call that a person has to approve first: no provider was called. */
export class PendingApproval extends Error {
  override readonly name = 'PendingApproval';
  readonly approval: StoredApproval;

  constructor(approval: StoredApproval) {
    super('a person has to approve the call');
    this.approval = approval;
  }
}

/** Creates a 202, which the header distinguishes from that of a provider. */
export function createPendingReply(
  authorization: Authorization,
  { id, expires_at }: StoredApproval,
): Reply {
  const approval = { status: 'pending', id, expires_at };
  return Reply.forwarded(authorization, {
    status: 202,
    pieces: [Buffer.from(JSON.stringify(approval))],
    contentType: JSON_TYPE,
    headers: ['modgate-origin', 'host'],
  });
}
