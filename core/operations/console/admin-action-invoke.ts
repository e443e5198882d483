import { randomUUID } from 'node:crypto';
import type { AdminAction } from '../../contract/index.js';
import { injectable } from '../../injection.js';
import { sliceMember } from '../../lib/json/json-structure.js';
import type { Store } from '../../store/store.js';
import { UnapprovedCall } from '../approvals/unapproved-call.js';
import { readResponseBytes } from '../forward/provider-response.js';
import { STORE } from '../injection-tokens.js';
import { rethrowStoreError } from '../store-error.js';
import { assertNoRepeatedMember, completeInput, validateInput } from './action-input.js';
import { createAuditDraft } from './audit-draft.js';
import {
  type AdminCall,
  type BridgeCall,
  type BridgeOperation,
  toJsonBytes,
} from './bridge-operation.js';
import type { BridgePayloads } from './bridge-payload.js';
import { callModule } from './call-module.js';

type Payload = BridgePayloads['admin_action_invoke'];

/**
 * Invokes an action of the module and returns its result unchanged. Each invocation writes one
 * audit row, so it is rejected before the provider call if the store is not writable.
 */
@injectable(STORE)
export class AdminActionInvoke implements BridgeOperation<Payload> {
  readonly name = 'admin_action_invoke';
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  isDeclared(payload: Payload, call: BridgeCall): boolean {
    return findAction(payload, call)?.capability === call.permission;
  }

  async execute(payload: Payload, call: BridgeCall): Promise<Buffer> {
    const action = findAction(payload, call);
    if (action === null) throw new Error('a declared action was not found');
    const json = sliceInput(call.body);
    const given = { input: payload.input, json, place: 'payload.input', hasUniqueNames: false };
    return invokeAction(this.#store, action, given, call);
  }
}

/** The input of an action as the client sent it. */
interface GivenInput {
  /** The parsed input; `undefined` for none. */
  readonly input: unknown;
  readonly json: Buffer | null;
  /** Its name in the request. */
  readonly place: string;
  /** Whether it is known to have no repeated members. */
  readonly hasUniqueNames: boolean;
}

/**
 * Invokes an action, and writes its audit row.
 * @throws HostError 400, 502, 503; UnapprovedCall, for which nothing was invoked.
 */
export async function invokeAction(
  store: Pick<Store, 'audit'>,
  action: AdminAction,
  sentInput: GivenInput,
  call: AdminCall,
): Promise<Buffer> {
  await store.audit.assertWritable().catch(rethrowStoreError);
  const input = completeInput(action, sentInput.input);
  const outcome = await sendInput(action, { ...sentInput, input }, call).then(
    (result) => ({ result, error: null }),
    (error: unknown) => ({ result: null, error }),
  );
  if (outcome.error instanceof UnapprovedCall) throw outcome.error;
  const draft = createAuditDraft(call, 'admin_action_invoke', action.name);
  const value = { json: sentInput.json ?? toJsonBytes(input), sensitive: false };
  const result = outcome.result === null ? 'failed' : 'ok';
  await store.audit.append({ ...draft, outcome: result, value }).catch(rethrowStoreError);
  if (outcome.result === null) throw outcome.error;
  return outcome.result;
}

async function sendInput(
  action: AdminAction,
  { input, json, place, hasUniqueNames }: GivenInput,
  call: AdminCall,
): Promise<Buffer> {
  validateInput(action, input, place);
  if (json !== null && !hasUniqueNames) assertNoRepeatedMember(input, json, place);
  const operation = {
    kind: 'admin_action',
    action: action.name,
    path: action.invoke_path ?? null,
    input,
    inputJson: json ?? toJsonBytes(input),
  } as const;
  const key = readIdempotencyKey(call) ?? randomUUID();
  return callModule(call, operation, readResponseBytes, { 'idempotency-key': key });
}

/** Reads the client's own key; returns `null` for an empty or hop-by-hop one. */
function readIdempotencyKey({ request, hopByHop }: AdminCall): string | null {
  if (hopByHop.has('idempotency-key')) return null;
  return request.headers.get('idempotency-key') || null;
}

/** The bytes of `payload.input`; `null` if it is absent. */
function sliceInput(body: Buffer): Buffer | null {
  const payload = sliceMember(body, 'payload');
  return payload && sliceMember(payload, 'input');
}

function findAction({ action }: Payload, { module }: BridgeCall): AdminAction | null {
  return module.manifest.admin?.actions?.find(({ name }) => name === action) ?? null;
}
