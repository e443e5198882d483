import { approvalList } from '../../contract/approval-status.js';
import { HostError } from '../../errors.js';
import type { StoredApproval } from '../../store/approvals.js';
import type { Store } from '../../store/store.js';
import { STORE } from '../injection-tokens.js';
import { defineListing } from '../listing.js';
import { limitParameter } from '../query.js';
import { defineResource } from '../resource.js';
import { rethrowStoreError } from '../store-error.js';
import { describeApproval, describeApprovalDetails } from './approval-content.js';

export const APPROVAL_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Lists pending requests, then decided ones that have not expired, without arguments. */
export const APPROVALS = defineResource({
  text: 'calls that wait for a person, the oldest first, then those that were decided and have not expired, without arguments; `limit` 1 to 1000, default 100',
  query: { limit: limitParameter },
  listing: defineListing({
    struct: approvalList,
    rows: 'approvals',
    title: 'Requests for approval',
    columns: {
      id: { title: 'ID', only: 'command' },
      status: { title: 'Status', as: 'state' },
      actor: { title: 'Actor', as: 'actor' },
      module: { title: 'Module' },
      name: { title: 'Operation' },
      danger_level: { title: 'Danger' },
      expires_at: { title: 'Expires', as: 'time' },
    },
  }),
  needs: [STORE],
  answer: async ({ query }, { approvals }) => {
    const list = await approvals.list(query.limit).catch(rethrowStoreError);
    return { approvals: list.map(describeApproval) };
  },
});

/** Shows all parts that the decision covers, and the last approved call of the operation. */
export const APPROVAL = defineResource({
  text: 'the same with `description` and `confirmation` (`{message, required_phrase}`) of the manifest, `arguments` (canonical JSON text, one member a line, in which nothing is invisible), `has_invisible`, `members`, `bytes`, `headers` (`{name, value}`), `config_digest`, `request_id`, `decided_at`, `decided_by`, and `previous`, the call of the operation that was approved before; 404 once expired',
  ids: APPROVAL_ID,
  needs: [STORE],
  answer: async ({ params: { id = '' } }, store) => {
    const approval = await requireApproval(store, id);
    const previous = await store.approvals.findPrevious(approval).catch(rethrowStoreError);
    return describeApprovalDetails(approval, previous);
  },
});

/** @throws HostError 404 for an unknown or expired request, 503. */
export async function requireApproval(
  { approvals }: Pick<Store, 'approvals'>,
  id: string,
): Promise<StoredApproval> {
  const approval = await approvals.get(id).catch(rethrowStoreError);
  if (approval === null) throw createUnknownApproval();
  return approval;
}

export function createUnknownApproval(): HostError {
  return new HostError('not_found', 'unknown or expired request for approval', {
    nextActions: ['see GET /approvals for pending requests'],
  });
}
