import type { AdminAction, AdminEntity } from '../../contract/index.js';
import { sliceMember } from '../../lib/json/json-structure.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import type { Store } from '../../store/store.js';
import { Approvals } from '../approvals/approvals.js';
import { createUnapprovedReply, UnapprovedCall } from '../approvals/unapproved-call.js';
import { Authorization } from '../authorization.js';
import { invokeAction } from '../console/admin-action-invoke.js';
import { readEntity, readPage } from '../console/admin-data-list.js';
import type { AdminCall } from '../console/bridge-operation.js';
import { readHopByHopNames } from '../forward/headers-to-provider.js';
import { translateOverload } from '../forward/overload.js';
import { STORE } from '../injection-tokens.js';
import { enforceRateLimit } from '../rate-limit.js';
import { Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { defineResource } from '../resource.js';
import { listExposed } from './exposed-operations.js';
import { findOperation } from './list-operations.js';
import { permissionOf } from './may-call.js';
import { createUnexposed } from './named-operation.js';
import {
  createRequestError,
  type OperationRequest,
  parseOperationRequest,
} from './operation-request.js';

/**
 * Calls an entity or an action that is exposed to agents, with the caller's own rights. The response
 * has the provider's bytes, or is a 202 if no person has approved the call.
 */
export const INVOCATION = defineResource({
  text: "calls an exposed entity or action: `{module, operation, arguments}`; the provider's bytes, or 202 `{status, id, expires_at}` where a person has to approve the call, or has rejected it",
  needs: [ModuleRegistry, STORE, Approvals],
  answer: async ({ body, request }, generations, store, approvals) => {
    const input = parseOperationRequest(body.join());
    assertNamed(input, request);
    const { module, operation } = findOperation(generations, input, request);
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
    module.client.hold();
    try {
      facts.step = 'rate';
      const { rates } = module.client;
      if (rates !== null) await enforceRateLimit(rates, request);
      facts.step = 'provider';
      const hopByHop = readHopByHopNames(request);
      const described = { arguments: input.json.toString('utf8'), exact: [], headers: [] };
      const admit = () => approvals.admit({ module, operation }, () => described, request);
      const call: AdminCall = { authorization, module, permission, request, hopByHop, admit };
      const bytes =
        declared.kind === 'entity'
          ? await listEntity(declared.entity, input, call)
          : await invoke(store, declared.action, input, call);
      return Reply.ok(authorization, [bytes]);
    } catch (error) {
      if (error instanceof UnapprovedCall) {
        return createUnapprovedReply(authorization, error);
      }
      throw translateOverload(error, [{ field: 'module', reason: module.name }]);
    } finally {
      module.client.release();
    }
  },
});

function invoke(
  store: Store,
  action: AdminAction,
  input: OperationRequest,
  call: AdminCall,
): Promise<Buffer> {
  assertNames(input, ['body']);
  const checked = {
    input: input.arguments['body'],
    json: sliceMember(input.json, 'body'),
    place: 'arguments.body',
    hasUniqueNames: true,
  };
  return invokeAction(store, action, checked, call);
}

/** @throws HostError 404 if the surface names another operation than the body. */
function assertNamed({ module, operation }: OperationRequest, request: CallerRequest): void {
  const named = request.operation;
  if (named === null || (named.module === module && named.id === operation)) return;
  throw createUnexposed();
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
  const query = { limit: limit as number | undefined, cursor };
  return readEntity(entity, query, call, (outcome) => readPage(outcome).body);
}

/** @throws HostError 400 for an unknown argument of the operation. */
function assertNames(input: OperationRequest, names: readonly string[]): void {
  const isUnknown = Object.keys(input.arguments).some((name) => !names.includes(name));
  if (isUnknown) throw createRequestError(`expected ${names.join(', ')}`, 'arguments');
}
