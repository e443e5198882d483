import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import type { Store } from '../../store/store.js';
import { authorize } from '../authorization.js';
import { STORE } from '../injection-tokens.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';
import { describeApproval, describeWhole } from './approval-content.js';

/** Reads approvals and decides about them. */
export const APPROVALS_SCOPE = 'modgate.approvals';

/** `GET /approvals`: those that wait, then those that were decided and have not expired, without arguments. */
@injectable(STORE)
export class ListApprovals implements Handler<number> {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async execute(limit: number, { actor }: CallerRequest): Promise<Reply> {
    const authorization = authorize(actor, { kind: 'scope', scope: APPROVALS_SCOPE });
    const approvals = await this.#store.approvals.list(limit).catch(rethrowStoreError);
    return Reply.json(authorization, { approvals: approvals.map(describeApproval) });
  }
}

/** `GET /approvals/{id}`: everything that the decision is about, beside the last approved call of the operation. */
@injectable(STORE)
export class ReadApproval implements Handler<string> {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async execute(id: string, { actor }: CallerRequest): Promise<Reply> {
    const authorization = authorize(actor, { kind: 'scope', scope: APPROVALS_SCOPE });
    const { approvals } = this.#store;
    const approval = await approvals.get(id).catch(rethrowStoreError);
    if (approval === null) throw createUnknownApproval();
    const previous = await approvals.findPrevious(approval).catch(rethrowStoreError);
    return Reply.json(authorization, describeWhole(approval, previous));
  }
}

export function createUnknownApproval(): HostError {
  return new HostError('not_found', 'there is no such request for approval, or it has expired', {
    nextActions: ['see GET /approvals for those that wait'],
  });
}
