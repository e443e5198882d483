import type { StoredApproval } from '../../store/store.js';
import type { Authorization } from '../authorization.js';
import { JSON_TYPE, Reply } from '../reply.js';

/** Creates a 202, which means that no provider was called. */
export function createPendingReply(
  authorization: Authorization,
  { id, expiresAt }: StoredApproval,
): Reply {
  const approval = { status: 'pending', id, expires_at: expiresAt };
  return Reply.forwarded(authorization, {
    status: 202,
    pieces: [Buffer.from(JSON.stringify(approval))],
    contentType: JSON_TYPE,
    headers: [],
  });
}
