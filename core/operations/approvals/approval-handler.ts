import { HostError } from '../../errors.js';
import type { ApprovalStore } from '../../store/approvals.js';
import type { Store, StoredApproval } from '../../store/store.js';
import { type Authorization, authorize } from '../authorization.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';

/** Allows a caller to read requests for approval and to decide about them. */
export const APPROVALS_SCOPE = 'modgate.approvals';

/** Serves callers with the scope for approvals. */
export abstract class ApprovalHandler {
  protected readonly approvals: ApprovalStore;

  constructor({ approvals }: Pick<Store, 'approvals'>) {
    this.approvals = approvals;
  }

  /** @throws HostError 403 without the scope. */
  protected authorize({ actor }: CallerRequest): Authorization {
    return authorize(actor, { kind: 'scope', scope: APPROVALS_SCOPE });
  }

  /** @throws HostError 404 for an unknown or expired request, 503. */
  protected async read(id: string): Promise<StoredApproval> {
    const approval = await this.approvals.get(id).catch(rethrowStoreError);
    if (approval === null) throw createUnknownApproval();
    return approval;
  }
}

export function createUnknownApproval(): HostError {
  return new HostError('not_found', 'unknown or expired request for approval', {
    nextActions: ['see GET /approvals for pending requests'],
  });
}
