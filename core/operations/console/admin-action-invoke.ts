import { randomUUID } from 'node:crypto';
import type { AdminAction } from '../../contract/index.js';
import { injectable } from '../../injection.js';
import { sliceMembers } from '../../lib/json/json-structure.js';
import type { Store } from '../../store/store.js';
import { readResponseBytes } from '../forward/provider-response.js';
import { STORE } from '../injection-tokens.js';
import { rethrowStoreError } from '../store-error.js';
import { completeInput, validateInput } from './action-input.js';
import { createAuditDraft } from './audit-draft.js';
import { type BridgeCall, type BridgeOperation, toJsonBytes } from './bridge-operation.js';
import type { BridgePayloads } from './bridge-payload.js';
import { callModule } from './call-module.js';

type Payload = BridgePayloads['admin_action_invoke'];

/**
 * Invokes an action of the module; the client gets the result byte for byte. Each invocation writes one audit
 * row, so it is rejected before the provider call if the store cannot be written.
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
    await this.#store.assertWritable().catch(rethrowStoreError);
    const input = completeInput(action, payload.input);
    const outcome = await this.#invoke(action, input, call).then(
      (result) => ({ result, error: null }),
      (error: unknown) => ({ result: null, error }),
    );
    await this.#audit(action, input, call, outcome.result === null ? 'failed' : 'ok');
    if (outcome.result === null) throw outcome.error;
    return outcome.result;
  }

  async #invoke(action: AdminAction, input: unknown, call: BridgeCall): Promise<Buffer> {
    const inputJson = sliceInput(call.body) ?? toJsonBytes(input);
    validateInput(action, input, inputJson);
    const operation = {
      kind: 'admin_action',
      action: action.name,
      path: action.invoke_path ?? null,
      input,
      inputJson,
    } as const;
    const key = readIdempotencyKey(call) ?? randomUUID();
    return callModule(call, operation, readResponseBytes, { 'idempotency-key': key });
  }

  async #audit(
    action: AdminAction,
    input: unknown,
    call: BridgeCall,
    outcome: 'ok' | 'failed',
  ): Promise<void> {
    const value = { json: input, sensitive: false };
    const draft = createAuditDraft(call, 'admin_action_invoke', action.name);
    await this.#store.appendAudit({ ...draft, outcome, value }).catch(rethrowStoreError);
  }
}

/** The client's own; `null` for one that is empty or hop-by-hop. */
function readIdempotencyKey({ request, hopByHop }: BridgeCall): string | null {
  if (hopByHop.has('idempotency-key')) return null;
  return request.headers.get('idempotency-key') || null;
}

/** The bytes of `payload.input`; `null` if it is absent. */
function sliceInput(body: Buffer): Buffer | null {
  const payload = sliceMembers(body).get('payload');
  return (payload && sliceMembers(payload).get('input')) ?? null;
}

function findAction({ action }: Payload, { module }: BridgeCall): AdminAction | null {
  return module.manifest.admin?.actions?.find(({ name }) => name === action) ?? null;
}
