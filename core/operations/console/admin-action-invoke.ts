import { randomUUID } from 'node:crypto';
import type { AdminAction } from '../../contract/index.js';
import { inject, injectable } from '../../injection.js';
import { sliceMembers } from '../../lib/json-scan.js';
import type { Store } from '../../store/store.js';
import { readHopByHopNames } from '../forward/provider-headers.js';
import { readAnswerBytes } from '../forward/provider-response.js';
import { assertStoreAvailable } from '../store-error.js';
import { STORE } from '../tokens.js';
import { completeInput, validateInput } from './action-input.js';
import { createAuditDraft } from './audit-draft.js';
import { type BridgeCall, type BridgeOperation, toJsonBytes } from './bridge-operation.js';
import type { AdminActionInvokePayload } from './bridge-payload.js';
import { callModule } from './call-module.js';

/**
 * Invokes an action of the module; its result goes to the caller byte for byte. Each invocation leaves one
 * audit row, so one that could leave none is refused before the provider is asked.
 */
@injectable()
export class AdminActionInvoke implements BridgeOperation<AdminActionInvokePayload> {
  readonly #store: Store;

  constructor(@inject(STORE) store: Store) {
    this.#store = store;
  }

  isDeclared(payload: AdminActionInvokePayload, call: BridgeCall): boolean {
    return findAction(payload, call)?.capability === call.permission;
  }

  async execute(payload: AdminActionInvokePayload, call: BridgeCall): Promise<Buffer> {
    const action = findAction(payload, call);
    if (action === null) throw new Error('an action that is declared was not found');
    // Asked rather than looked at: a store that was not needed so far is opened by this.
    await this.#store.readConfig(call.module.name).catch(assertStoreAvailable);
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
    return callModule(call, operation, readAnswerBytes, { 'idempotency-key': key });
  }

  async #audit(
    action: AdminAction,
    input: unknown,
    call: BridgeCall,
    outcome: 'ok' | 'failed',
  ): Promise<void> {
    const value = { json: input, sensitive: false };
    const draft = createAuditDraft(call, 'admin_action_invoke', action.name);
    await this.#store.appendAudit({ ...draft, outcome, value }).catch(assertStoreAvailable);
  }
}

/** The caller's own; `null` for one that is empty, or not meant to go further than this host. */
function readIdempotencyKey({ request }: BridgeCall): string | null {
  if (readHopByHopNames(request).has('idempotency-key')) return null;
  return request.headers.get('idempotency-key') || null;
}

/** The bytes of `payload.input`; `null` where it is absent. */
function sliceInput(body: Buffer): Buffer | null {
  const payload = sliceMembers(body).get('payload');
  return (payload && sliceMembers(payload).get('input')) ?? null;
}

function findAction(
  { action }: AdminActionInvokePayload,
  { module }: BridgeCall,
): AdminAction | null {
  return module.manifest.admin?.actions?.find(({ name }) => name === action) ?? null;
}
