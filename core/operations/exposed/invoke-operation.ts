import type { AdminAction, AdminEntity } from '../../contract/index.js';
import { injectable } from '../../injection.js';
import { sliceMembers } from '../../lib/json/json-structure.js';
import type { GenerationSource } from '../../modules/live-module.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import type { Store } from '../../store/store.js';
import { Approvals } from '../approvals/approvals.js';
import { createPendingReply } from '../approvals/pending-reply.js';
import { Authorization } from '../authorization.js';
import { invokeAction } from '../console/admin-action-invoke.js';
import { readEntity, readPage } from '../console/admin-data-list.js';
import type { AdminCall } from '../console/bridge-operation.js';
import { readHopByHopNames } from '../forward/headers-to-provider.js';
import { translateOverload } from '../forward/overload.js';
import { STORE } from '../injection-tokens.js';
import { enforceRateLimit } from '../rate-limit.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { listExposed } from './exposed-operations.js';
import { findOperation } from './list-operations.js';
import { permissionOf } from './may-call.js';
import { createRequestError, type OperationRequest } from './operation-request.js';

/**
 * Handles `POST /operations`: calls an entity or an action that is exposed to agents, with the
 * caller's own rights. The response has the provider's bytes, or is a 202 if a person must approve
 * the call first.
 */
@injectable(ModuleRegistry, STORE, Approvals)
export class InvokeOperation implements Handler<OperationRequest> {
  readonly #generations: GenerationSource;
  readonly #store: Store;
  readonly #approvals: Approvals;

  constructor(generations: GenerationSource, store: Store, approvals: Approvals) {
    this.#generations = generations;
    this.#store = store;
    this.#approvals = approvals;
  }

  async execute(input: OperationRequest, request: CallerRequest): Promise<Reply> {
    const { module, operation } = findOperation(this.#generations, input, request);
    const { declared, shown } = operation;
    if (declared.kind === 'route') throw createRequestError('a route is called by its path');
    const { facts } = request;
    facts.kind = 'forwarded';
    facts.module = module.name;
    facts.route = shown.id;
    facts.step = 'permission';
    const authorization = Authorization.forOperation();
    const permission = permissionOf(declared);
    authorization.admitPermission(request.actor, permission);
    authorization.admitExposure(listExposed(module), shown.id);
    const pending = await this.#approvals.require({ module, operation }, input, request);
    if (pending !== null) return createPendingReply(authorization, pending);
    facts.step = 'rate';
    const { rates } = module.client;
    if (rates !== null) await enforceRateLimit(rates, request);
    facts.step = 'provider';
    const hopByHop = readHopByHopNames(request);
    const call: AdminCall = { authorization, module, permission, request, hopByHop };
    module.client.hold();
    try {
      const bytes =
        declared.kind === 'entity'
          ? await listEntity(declared.entity, input, call)
          : await this.#invoke(declared.action, input, call);
      return Reply.ok(authorization, [bytes]);
    } catch (error) {
      throw translateOverload(error, [{ field: 'module', reason: module.name }]);
    } finally {
      module.client.release();
    }
  }

  #invoke(action: AdminAction, input: OperationRequest, call: AdminCall): Promise<Buffer> {
    assertNames(input, ['body']);
    const checked = {
      input: input.arguments['body'],
      json: sliceMembers(input.json).get('body') ?? null,
      place: 'arguments.body',
    };
    return invokeAction(this.#store, action, checked, call);
  }
}

async function listEntity(
  entity: AdminEntity,
  input: OperationRequest,
  call: AdminCall,
): Promise<Buffer> {
  assertNames(input, ['limit', 'cursor']);
  const { limit, cursor } = input.arguments;
  if (limit !== undefined && !Number.isInteger(limit)) {
    throw createRequestError('not a whole number', 'arguments.limit');
  }
  if (cursor !== undefined && cursor !== null && typeof cursor !== 'string') {
    throw createRequestError('not a string', 'arguments.cursor');
  }
  return readEntity(entity, { limit: limit as number | undefined, cursor }, call, readPage);
}

/** @throws HostError 400 for an unknown argument of the operation. */
function assertNames(input: OperationRequest, names: readonly string[]): void {
  const isUnknown = Object.keys(input.arguments).some((name) => !names.includes(name));
  if (isUnknown) throw createRequestError(`expected ${names.join(', ')}`, 'arguments');
}
