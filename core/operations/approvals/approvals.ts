import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { digestText } from '../../lib/hash.js';
import { ALWAYS_FORWARDED, CONDITIONAL } from '../../lib/header-names.js';
import { canonicalizeText } from '../../lib/json/canonical-text.js';
import type { LiveModule } from '../../modules/live-module.js';
import type { Store, StoredApproval } from '../../store/store.js';
import type { FoundOperation } from '../exposed/exposed-operations.js';
import { permissionOf } from '../exposed/may-call.js';
import type { OperationRequest } from '../exposed/operation-request.js';
import { STORE } from '../injection-tokens.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';
import type { ApprovalContent } from './approval-content.js';

/** The maximum length of arguments, all of which a person must see. Bytes. */
const MAX_ARGUMENT_BYTES = 49_152;

/** Headers with a new value for each call. */
const NOT_BOUND: ReadonlySet<string> = new Set(['idempotency-key']);

interface FoundCall {
  readonly module: LiveModule;
  readonly operation: FoundOperation;
}

/** Lets calls wait for the approval of a person. */
@injectable(STORE)
export class Approvals {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Uses the approval of exactly this call, or requests one.
   * @returns the pending request; `null` for a call that needs no approval, or was approved.
   * @throws HostError 400 for arguments that are too long to be displayed, 429 for too many pending
   * requests, 503.
   */
  async require(
    { module, operation }: FoundCall,
    { json }: Pick<OperationRequest, 'json'>,
    request: CallerRequest,
  ): Promise<StoredApproval | null> {
    const { shown } = operation;
    if (!shown.needsApproval) return null;
    if (json.length > MAX_ARGUMENT_BYTES) throw createLengthError();
    const { actor, requestId, correlationId } = request;
    const headers = listBoundHeaders(module, request);
    const text = json.toString('utf8');
    const content: ApprovalContent = {
      name: shown.name,
      operation_kind: shown.kind,
      danger_level: shown.dangerLevel,
      arguments: text,
      headers: headers.map(([name]) => name),
      config_digest: module.configDigest,
      request_id: requestId,
    };
    const binding = digestText(
      JSON.stringify([
        ...['call', actor.kind, actor.id, module.name, shown.id],
        ...[digestText(canonicalizeText(text)), module.configDigest, headers],
      ]),
    );
    const draft = {
      kind: 'call',
      module: module.name,
      operation: shown.id,
      actor: { kind: actor.kind, id: actor.id },
      binding,
      content: JSON.stringify(content),
    };
    const audit = { permission: findPermission(operation), requestId, correlationId };
    const result = await this.#store.approvals.request(draft, audit).catch(rethrowStoreError);
    if (result.outcome === 'too_many') throw createTooMany(result.of);
    return result.outcome === 'pending' ? result.approval : null;
  }
}

function findPermission({ declared }: FoundOperation): string {
  return declared.kind === 'route' ? (declared.route.capability ?? '') : permissionOf(declared);
}

/** Returns the headers of the caller that reach the provider, except ids and trace. */
function listBoundHeaders(
  { descriptor }: LiveModule,
  { headers }: CallerRequest,
): (readonly [name: string, value: string])[] {
  const names = new Set([...ALWAYS_FORWARDED, ...CONDITIONAL, ...descriptor.forward_headers]);
  return [...names].sort().flatMap((name) => {
    const value = NOT_BOUND.has(name) ? undefined : headers.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
}

function createLengthError(): HostError {
  return new HostError('validation_failed', 'the arguments are too long to be approved', {
    errors: [{ field: 'arguments', reason: `more than ${MAX_ARGUMENT_BYTES} bytes` }],
    nextActions: ['send less in one call'],
  });
}

function createTooMany(of: 'caller' | 'module'): HostError {
  return new HostError('rate_limited', `too many calls of the ${of} are pending approval`, {
    errors: [{ field: of, reason: 'too many pending requests' }],
    nextActions: ['wait until a person has approved or rejected them'],
  });
}
