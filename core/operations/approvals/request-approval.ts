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
 * `POST /approvals`: a surface asks before it calls a route for an agent. 200 if the call may be made now, once;
 * 202 with the request that waits for a person.
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
    const found = findOperation(this.#generations, input, request);
    const pending = await this.#approvals.require(found, input, request);
    if (pending !== null) return createPendingReply(authorization, pending);
    return Reply.json(authorization, { status: 'approved' });
  }
}
