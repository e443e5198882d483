import { injectable } from '../../injection.js';
import type { GenerationSource } from '../../modules/live-module.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { authorize } from '../authorization.js';
import { findOperation } from '../exposed/list-operations.js';
import type { OperationRequest } from '../exposed/operation-request.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { Approvals } from './approvals.js';
import { createPendingReply } from './pending-reply.js';

/**
 * Handles `POST /approvals`, which a surface sends before it calls a route for an agent. It
 * responds with 200 if the call may be made now, once, or with 202 and the pending request.
 */
@injectable(ModuleRegistry, Approvals)
export class RequestApproval implements Handler<OperationRequest> {
  readonly #generations: GenerationSource;
  readonly #approvals: Approvals;

  constructor(generations: GenerationSource, approvals: Approvals) {
    this.#generations = generations;
    this.#approvals = approvals;
  }

  async execute(input: OperationRequest, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, { kind: 'authenticated' });
    const operation = findOperation(this.#generations, input, request);
    const pending = await this.#approvals.require(operation, input, request);
    if (pending !== null) return createPendingReply(authorization, pending);
    return Reply.json(authorization, { status: 'approved' });
  }
}
