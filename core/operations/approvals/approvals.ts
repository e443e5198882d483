import { HostError } from '../../errors.js';
import { createToken, injectable } from '../../injection.js';
import { digestText } from '../../lib/hash.js';
import { ALWAYS_FORWARDED, CONDITIONAL } from '../../lib/header-names.js';
import { canonicalizeText } from '../../lib/json/canonical-text.js';
import { parseStrictJson } from '../../lib/json/json-structure.js';
import type { GenerationSource, LiveModule } from '../../modules/live-module.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import type { Store } from '../../store/store.js';
import { type FoundOperation, listExposed } from '../exposed/exposed-operations.js';
import { permissionOf } from '../exposed/may-call.js';
import { createUnexposed } from '../exposed/named-operation.js';
import { STORE } from '../injection-tokens.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';
import type { ApprovalContent } from './approval-content.js';
import { readWords } from './manifest-words.js';
import { UnapprovedCall } from './unapproved-call.js';

/** The maximum length of arguments, all of which a person must see. Bytes. */
const MAX_ARGUMENT_BYTES = 49_152;

/** Deeper arguments are unreadable for people too. */
const MAX_DEPTH = 128;

/** Headers with a new value for each call. */
const NOT_BOUND: ReadonlySet<string> = new Set(['idempotency-key']);

/** The address of the page on which people decide; `null` if it is unknown or there is none. */
export const APPROVALS_PAGE = createToken<string | null>('approvals-page');

interface FoundCall {
  readonly module: LiveModule;
  readonly operation: FoundOperation;
}

/** The parts of a call that a person approves. */
export interface ApprovedCall {
  /** JSON text with all that the caller chooses, for people. */
  readonly arguments: string;
  /** What the approval covers besides, such as the bytes of the target. */
  readonly exact: readonly string[];
  /** The names of further headers that reach the provider. */
  readonly headers: readonly string[];
}

/** Lets calls of agents pass right before the provider is called, or wait for a person. */
@injectable(ModuleRegistry, STORE, APPROVALS_PAGE)
export class Approvals {
  readonly #generations: GenerationSource;
  readonly #store: Store;
  readonly #page: string | null;

  constructor(generations: GenerationSource, store: Store, page: string | null) {
    this.#generations = generations;
    this.#store = store;
    this.#page = page;
  }

  /**
   * Checks that the module still exposes the operation, and uses the approval of exactly this call.
   * @param describe called for a call that needs approval
   * @throws UnapprovedCall for a call that is now requested, or was rejected.
   * @throws HostError 400 for arguments that cannot be displayed, 404 after a reload that changed
   * the module, 429 for too many pending requests, 503.
   */
  async admit(
    found: FoundCall,
    describe: () => ApprovedCall,
    request: CallerRequest,
  ): Promise<void> {
    const { module, operation } = found;
    const served = this.#generations.current.get(module.name);
    const exposed = served && listExposed(served).get(operation.shown.id)?.shown;
    if (exposed?.name !== operation.shown.name) throw createUnexposed();
    if (!operation.shown.needsApproval && !exposed.needsApproval) return;
    // A person approves a call of one version.
    if (served?.configDigest !== module.configDigest) throw createUnexposed();
    await this.#use(found, describe(), request);
  }

  async #use(
    { module, operation }: FoundCall,
    { arguments: text, exact, headers: names }: ApprovedCall,
    request: CallerRequest,
  ): Promise<void> {
    const { shown } = operation;
    assertDisplayable(text);
    const { actor, requestId, correlationId } = request;
    const headers = listBoundHeaders(module, request, names);
    const canonical = canonicalizeText(text);
    const content: ApprovalContent = {
      ...readWords(operation.declared),
      name: shown.name,
      operation_kind: shown.kind,
      danger_level: shown.dangerLevel,
      arguments: canonical,
      headers: headers.map(([name, value]) => ({ name, value })),
      config_digest: module.configDigest,
      request_id: requestId,
    };
    const binding = digestText(
      JSON.stringify([
        ...['call', actor.kind, actor.id, module.name, shown.id],
        ...[digestText(canonical), headers, exact],
      ]),
    );
    const draft = {
      kind: 'call',
      module: module.name,
      operation: shown.id,
      actor_kind: actor.kind,
      actor_id: actor.id,
      binding,
      version: module.configDigest,
      content: JSON.stringify(content),
    };
    const audit = { permission: findPermission(operation), requestId, correlationId };
    const result = await this.#store.approvals.request(draft, audit).catch(rethrowStoreError);
    if (result.outcome === 'too_many') throw createTooMany(result.of);
    if (result.outcome !== 'approved') throw new UnapprovedCall(result.approval, this.#page);
  }
}

function findPermission({ declared }: FoundOperation): string {
  return declared.kind === 'route' ? (declared.route.capability ?? '') : permissionOf(declared);
}

/** Returns the headers of the caller that reach the provider, except ids and trace. */
function listBoundHeaders(
  { descriptor }: LiveModule,
  { headers }: CallerRequest,
  others: readonly string[],
): (readonly [name: string, value: string])[] {
  const forwarded = [...ALWAYS_FORWARDED, ...CONDITIONAL, ...descriptor.forward_headers];
  return [...new Set([...forwarded, ...others])].sort().flatMap((name) => {
    const value = NOT_BOUND.has(name) ? undefined : headers.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
}

/** @throws HostError 400 for arguments that are too long, or that have two meanings. */
function assertDisplayable(text: string): void {
  const json = Buffer.from(text);
  if (json.length > MAX_ARGUMENT_BYTES) {
    throw createArgumentError(`more than ${MAX_ARGUMENT_BYTES} bytes`, 'send less in one call');
  }
  const [problem] = parseStrictJson(json, MAX_DEPTH, 1).problems;
  if (problem === undefined) return;
  throw createArgumentError(
    `${problem.problem}: ${problem.path.join('.')}`,
    'correct the arguments',
  );
}

/** The error for arguments that a person cannot review. */
export function createArgumentError(reason: string, nextAction: string): HostError {
  return new HostError('validation_failed', 'the arguments cannot be approved', {
    step: 'body',
    errors: [{ field: 'arguments', reason }],
    nextActions: [nextAction],
  });
}

function createTooMany(of: 'caller' | 'module'): HostError {
  const counted =
    of === 'caller' ? 'are pending approval or were rejected' : 'are pending approval';
  return new HostError('rate_limited', `too many calls of the ${of} ${counted}`, {
    errors: [{ field: of, reason: 'too many requests for approval' }],
    nextActions: ['wait until a person has decided, and until rejected requests expire'],
  });
}
