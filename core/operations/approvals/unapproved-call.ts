import type { RequestedApproval } from '../../store/approvals.js';
import type { Authorization } from '../authorization.js';
import { JSON_TYPE, Reply } from '../reply.js';

/** Ends a call that no person has approved; the provider was not called. */
export class UnapprovedCall extends Error {
  override readonly name = 'UnapprovedCall';
  readonly approval: RequestedApproval;
  /** Where a person decides about it; `null` if the address is unknown. */
  readonly url: string | null;

  constructor(approval: RequestedApproval, page: string | null) {
    super('no person has approved the call');
    this.approval = approval;
    this.url = page && `${page}?id=${approval.id}`;
  }
}

/** Creates a 202, which the header distinguishes from that of a provider. */
export function createUnapprovedReply(
  authorization: Authorization,
  { approval: { id, status, expires_at, reason }, url }: UnapprovedCall,
): Reply {
  const approval = {
    ...{ status, id, expires_at },
    ...(status === 'rejected' ? { reason } : url !== null && { url }),
  };
  return Reply.forwarded(authorization, {
    status: 202,
    pieces: [Buffer.from(JSON.stringify(approval))],
    contentType: JSON_TYPE,
    headers: ['modgate-origin', 'host'],
  });
}
