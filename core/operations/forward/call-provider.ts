import {
  isBodyStream,
  isProviderFailure,
  type Progress,
  type ProviderOperation,
} from '../../contract/index.js';
import type { ErrorDetail } from '../../errors.js';
import type { IdentifiedCaller } from '../../identity/identity-claims.js';
import { listConditions } from '../../lib/header-names.js';
import {
  createTraceContext,
  formatTraceparent,
  parseTraceparent,
  type TraceContext,
} from '../../lib/trace-context.js';
import type { LiveModule } from '../../modules/live-module.js';
import type { HeldMemory } from '../../provider/held-memory.js';
import { createMask } from '../../provider/mask-failure.js';
import { type CheckedOutcome, ProviderStatus, readSecrets } from '../../provider/outcome.js';
import type {
  AttemptResult,
  ParseResponse,
  ProviderCall,
  StreamedResponse,
  Upload,
} from '../../provider/provider-call.js';
import { Authorization } from '../authorization.js';
import type { CallBodies, CallerRequest, RequestFacts } from '../request.js';
import { isBodyIgnored } from './body-policy.js';
import { createClientHeaders } from './called-address.js';
import { acceptedContentOf, createProviderHeaders } from './headers-to-provider.js';
import { identifyCaller } from './identify-caller.js';
import { createFailureError, createStatusError } from './provider-error.js';
import { checkJsonHead } from './provider-response.js';
import { describeRoute, type MatchedRoute } from './route-call.js';

const NO_HEADERS = {};
const NONE: readonly string[] = [];

export interface ProviderRequest<T> {
  /** Proves that the caller may make the call. */
  readonly authorization: Authorization;
  readonly module: LiveModule;
  readonly operation: ProviderOperation;
  /** `null` for a bridge operation. */
  readonly matched: MatchedRoute | null;
  readonly request: CallerRequest;
  /** The headers that the client's `connection` names, in lower case. */
  readonly hopByHop: ReadonlySet<string>;
  readonly timeoutMs: number;
  /** Whether the call may be repeated. */
  readonly isRepeatable: boolean;
  /** Headers beyond those of every call; lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body that the client is still sending; the operation has it too. Default: none. */
  readonly upload?: Upload | null;
  /** Whether the body is bytes, buffered or not. Default false. */
  readonly sendsBytes?: boolean;
  /** The streaming of the response. Default: it is buffered. */
  readonly response?: StreamedResponse | null;
  /**
   * The resources of a call that others share, and that outlives its request. Default: it ends with
   * the request.
   */
  readonly detached?: Pick<ProviderCall, 'signal' | 'held'> & { readonly facts: RequestFacts };
  /** Conditions of the client that are not forwarded; lower-case names. Default: none. */
  readonly withheld?: readonly string[];
  readonly details?: readonly ErrorDetail[];
  readonly parseResponse: ParseResponse<T>;
  /** As in `ProviderCall`; `null`, the default, for a call that needs no admission. */
  readonly admit?: (() => Promise<void>) | null;
  /** Called with each response, before it is parsed; `null`, the default, for none. */
  readonly onAnswer?: ((call: ProviderCall, outcome: CheckedOutcome) => void) | null;
  /** Called at the end of each attempt; `null`, the default, for none. */
  readonly onAttemptEnd?: ((result: AttemptResult) => void) | null;
}

/**
 * Calls the provider for a caller.
 * @throws HostError 502, or the provider's own error if the descriptor passes it through; ClientClosed.
 */
export async function callProvider<T>(providerRequest: ProviderRequest<T>): Promise<T> {
  const { module, matched, details = [] } = providerRequest;
  Authorization.assert(providerRequest.authorization);
  try {
    const call = new ForwardedCall(providerRequest);
    const { parseResponse, onAnswer } = providerRequest;
    const parse = onAnswer == null ? parseResponse : observe(call, parseResponse, onAnswer);
    const { value } = await module.client.call(call, parse);
    return value;
  } catch (error) {
    const failure = providerRequest.upload?.failure ?? null;
    // An incomplete body is the cause, regardless of the response of the provider.
    if (failure !== null && !isProviderFailure(failure)) throw failure;
    const described = matched === null ? details : describeRoute(matched);
    if (error instanceof ProviderStatus) {
      throw createStatusError(error, module, described, providerRequest.request);
    }
    if (isProviderFailure(error)) {
      const { owner } = module.descriptor;
      throw createFailureError(error, described, owner, matched?.match.value);
    }
    throw error;
  }
}

function observe<T>(
  call: ProviderCall,
  parseResponse: ParseResponse<T>,
  onAnswer: (call: ProviderCall, outcome: CheckedOutcome) => void,
): ParseResponse<T> {
  return (outcome, endpoint, operation) => {
    onAnswer(call, outcome);
    return parseResponse(outcome, endpoint, operation);
  };
}

/** A call that the provider client sends in attempts. */
class ForwardedCall implements ProviderCall {
  readonly operation: ProviderOperation;
  readonly route: string | null;
  readonly context: ProviderCall['context'];
  readonly identity: IdentifiedCaller | null;
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
  readonly signal: ProviderCall['signal'];
  readonly isRepeatable: boolean;
  readonly hashKey: string | null;
  declare readonly held?: HeldMemory;
  declare readonly upload?: Upload;
  declare readonly response?: StreamedResponse;
  declare readonly admit?: () => Promise<void>;
  declare readonly onProgress?: (progress: Progress) => void;
  declare readonly checkHead?: NonNullable<ProviderCall['checkHead']>;
  readonly facts: RequestFacts;
  readonly #traceContext: TraceContext;
  readonly #request: CallerRequest;
  readonly #onAttemptEnd: ProviderRequest<unknown>['onAttemptEnd'];

  constructor(providerRequest: Omit<ProviderRequest<unknown>, 'details' | 'parseResponse'>) {
    const { module, operation, request } = providerRequest;
    const { requestId, correlationId, actor } = request;
    const { signal, held, facts } = providerRequest.detached ?? request;
    const clientTrace = providerRequest.hopByHop.has('traceparent')
      ? null
      : parseTraceparent(request.headers.get('traceparent'));
    this.#traceContext = clientTrace ?? createTraceContext();
    this.#request = request;
    this.#onAttemptEnd = providerRequest.onAttemptEnd ?? null;
    this.operation = operation;
    this.route = providerRequest.matched?.match.value.name ?? null;
    this.context = { module: module.name, actor, requestId, correlationId };
    this.identity = module.descriptor.identity ? identifyCaller(module, actor, requestId) : null;
    this.headers = createCallHeaders(providerRequest, clientTrace);
    if (providerRequest.response) this.response = providerRequest.response;
    // Responses that are streamed from their head are checked there.
    if (providerRequest.response?.holdBytes !== 0) this.checkHead = checkJsonHead;
    if (providerRequest.admit) this.admit = providerRequest.admit;
    if (providerRequest.upload) {
      this.upload = providerRequest.upload;
      const length = request.headers.get('content-length');
      if (length !== undefined) this.headers['content-length'] = length;
    }
    this.timeoutMs = providerRequest.timeoutMs;
    this.signal = signal;
    this.isRepeatable = providerRequest.isRepeatable;
    this.hashKey = readHashKey(module, request);
    if (request.onProgress !== null && providerRequest.detached === undefined) {
      this.onProgress = request.onProgress;
    }
    if (held !== undefined) this.held = held;
    this.facts = facts;
    facts.trace_id = facts.span?.traceId ?? this.#traceContext.traceId;
    facts.bodies =
      providerRequest.sendsBytes === true ? null : createBodies(module, operation, this.#request);
  }

  nextTraceparent(): string {
    return this.facts.span?.beginAttempt(this.operation) ?? formatTraceparent(this.#traceContext);
  }

  onAttemptEnd(result: AttemptResult): void {
    this.#onAttemptEnd?.(result);
    const { span, bodies } = this.facts;
    span?.endAttempt(result);
    const body = result.outcome?.body ?? null;
    if (bodies !== null) bodies.response = isBodyStream(body) ? null : body;
    if (result.outcome === undefined) return;
    const secrets = readSecrets(result.outcome);
    if (secrets.length > 0) this.#request.addSecrets(secrets);
  }

  mask(text: string): string {
    return this.#request.mask(text);
  }
}

type CallHeaderInput = Omit<ProviderRequest<unknown>, 'details' | 'parseResponse'>;

/** The headers of a call, without those of its attempts. */
export function createCallHeaders(
  input: CallHeaderInput,
  clientTrace: TraceContext | null = null,
): Record<string, string> {
  const { module, matched, request, hopByHop } = input;
  const route = matched?.match.value ?? null;
  const isRaw = route !== null && module.descriptor.responses.mode === 'raw';
  const headers = createProviderHeaders({
    request,
    conditions: route === null ? NONE : listConditions(request.method, isRaw),
    hopByHop,
    forwardHeaders: module.descriptor.forward_headers,
    clientHeaders: module.descriptor.forward_client
      ? createClientHeaders(request, matched?.target ?? null)
      : NO_HEADERS,
    isClientTrace: clientTrace !== null,
    takesBody: route !== null && route.body !== 'none' && !isBodyIgnored(request.method, route),
    sendsBytes: input.sendsBytes === true,
    wanted:
      route &&
      acceptedContentOf(
        request.isHttp10 ? { ...route, stream: null } : route,
        request.headers.get('accept'),
      ),
    isRaw,
  });
  if (input.headers !== undefined) Object.assign(headers, input.headers);
  for (const name of input.withheld ?? NONE) delete headers[name];
  return headers;
}

/** The value that selects the endpoint; `null` if it does not depend on the request. */
export function readHashKey(
  { client: { hashHeader } }: LiveModule,
  { headers }: Pick<CallerRequest, 'headers'>,
): string | null {
  return hashHeader === null ? null : (headers.get(hashHeader) ?? null);
}

/** Captures bodies only if the descriptor enables it. */
export function createBodies(
  { descriptor, secrets }: LiveModule,
  operation: ProviderOperation,
  request: Pick<CallerRequest, 'mask'>,
): CallBodies | null {
  const { capture_bytes: captureBytes } = descriptor.records;
  if (captureBytes === 0 || operation.kind !== 'http_route') return null;
  const mask = createMask(secrets, request);
  return { captureBytes, mask, request: operation.body, response: null };
}
