import { injectable } from '../../injection.js';
import { STORE } from '../injection-tokens.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';
import { describeApproval, describeApprovalDetails } from './approval-content.js';
import { ApprovalHandler } from './approval-handler.js';

/**
 * Handles `GET /approvals`: lists pending requests, then decided ones that have not expired,
 * without arguments.
 */
@injectable(STORE)
export class ListApprovals extends ApprovalHandler implements Handler<number> {
  async execute(limit: number, request: CallerRequest): Promise<Reply> {
    const authorization = this.authorize(request);
    const approvals = await this.approvals.list(limit).catch(rethrowStoreError);
    return Reply.json(authorization, { approvals: approvals.map(describeApproval) });
  }
}

/**
 * Handles `GET /approvals/{id}`: shows all parts that the decision covers, and the last approved
 * call of the operation.
 */
@injectable(STORE)
export class ReadApproval extends ApprovalHandler implements Handler<string> {
  async execute(id: string, request: CallerRequest): Promise<Reply> {
    const authorization = this.authorize(request);
    const approval = await this.read(id);
    const previous = await this.approvals.findPrevious(approval).catch(rethrowStoreError);
    return Reply.json(authorization, describeApprovalDetails(approval, previous));
  }
}
