import type { Actor } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import type { ErrorDetail } from '../../errors.js';
import type { RouteMatch } from '../../lib/routing/route-table.js';
import type {
  GenerationSource,
  LiveModule,
  LiveRoute,
  RoutedModule,
  WaitingModule,
  WaitingSource,
} from '../../modules/live-module.js';
import type { Upload } from '../../provider/provider-call.js';
import type { Approvals } from '../approvals/approvals.js';
import { Authorization } from '../authorization.js';
import type { CacheEntry } from '../cache/cache-entry.js';
import type { ResponseCache } from '../cache/response-cache.js';
import type { FoundOperation } from '../exposed/exposed-operations.js';
import { findNamedRoute } from '../exposed/named-operation.js';
import type { Reply } from '../reply.js';
import type {
  CallerRequest,
  Client,
  ModuleTarget,
  ParsedTarget,
  RequestFacts,
} from '../request.js';
import type { WebSocketCall } from '../websocket/websocket-call.js';

/** A target of a module's shape. */
export type ForwardTarget = Exclude<ParsedTarget, { kind: 'host' }>;

/** The caller of a request, or of an explained one. */
export interface Caller
  extends Pick<CallerRequest, 'method' | 'actor' | 'authenticate' | 'requestId' | 'handshake'> {
  /** `null` if it is unknown. */
  readonly client: Pick<Client, 'address'> | null;
}

/** The subject of the steps before the call: a request, or an explained one. */
export interface RouteRequest {
  readonly request: Caller;
  /** Only of an explained request: `null` without an actor. */
  readonly caller?: Actor | null;
  readonly target: ForwardTarget;
  readonly authorization: Authorization;
  /** Whether the matching route needs no credentials. */
  readonly isPublic: boolean;
  /** The addresses that may call the module; absent for all. */
  readonly allow: Descriptor['allow'];
  /** `null` if no live module has the name. */
  readonly module: RoutedModule | null;
  /** `null` unless the module serves nothing because its manifest is pending. */
  readonly waiting: WaitingModule | null;
  /** Records the module of a request, once its caller is known or its address is rejected. */
  recordModule?(): void;
  /** @throws Error before a route has matched. */
  readonly matched: { readonly match: RouteMatch<LiveRoute> };
  useRoute(match: RouteMatch<LiveRoute>): void;
}

/** Whether a route of the module needs no credentials for this request. */
export function isPublicRoute(
  module: RoutedModule | null,
  request: MatchedRequest,
  target: ParsedTarget,
): boolean {
  if (module === null || target.kind !== 'module' || !module.descriptor.public) return false;
  return matchRoute(module, request, target)?.value.isPublic === true;
}

type MatchedRequest = Pick<CallerRequest, 'method' | 'handshake'>;

/** Matches the route of a request; a handshake prefers a WebSocket over another route. */
export function matchRoute(
  { routes }: RoutedModule,
  { method, handshake }: MatchedRequest,
  { segments, encoded }: ModuleTarget,
): RouteMatch<LiveRoute> | null {
  return routes.match(toServedMethod(method), segments, encoded, handshake !== null);
}

/** Returns the form of the Problems of a module, live or not. */
export function readProblemForm({ module, waiting }: Pick<RouteRequest, 'module' | 'waiting'>) {
  return (module?.descriptor ?? waiting)?.responses?.problems ?? 'problem';
}

/** The GET route serves HEAD. */
export function toServedMethod(method: string): string {
  return method === 'HEAD' ? 'GET' : method;
}

export interface MatchedRoute {
  readonly module: LiveModule;
  readonly target: ModuleTarget;
  readonly match: RouteMatch<LiveRoute>;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** The services of the host for every request to a route. */
export interface RouteServices {
  readonly generations: GenerationSource & WaitingSource;
  readonly credentialHeaders: readonly string[];
  readonly responses: ResponseCache | null;
  readonly approvals: Approvals;
}

/** A request to a route of a module, until `close`. The steps set its members. */
export class RouteCall implements RouteRequest {
  readonly request: CallerRequest;
  readonly target: ForwardTarget;
  readonly facts: RequestFacts;
  /** The request headers for credentials; lower-case names. */
  readonly credentialHeaders: readonly string[];
  readonly authorization = Authorization.forRoute();
  /** The names that the request declares hop-by-hop. */
  hopByHop = NO_NAMES;
  /** `null` for no body, and for a streamed one. */
  body: Buffer | null = null;
  /** The streamed body. */
  upload: Upload | null = null;
  /** Whether the body is bytes, not JSON. */
  sendsBytes = false;
  /** The handshake of the host with the provider; `null` for a route that is no WebSocket. */
  webSocketCall: WebSocketCall | null = null;
  /** `null` before the provider or the cache has responded. */
  reply: Reply | null = null;
  /** The cached responses of the host; `null` without a cache. */
  readonly responses: ResponseCache | null;
  /** The place of the response in the cache; `null` for one that is not cached. */
  cacheEntry: CacheEntry | null = null;
  /** The time that the request has waited for the call of another one. Milliseconds. */
  waitedMs = 0;
  /** The exposed operation that an agent calls; `null` for a request as over HTTP. */
  exposed: FoundOperation | null = null;
  /** Admits calls of exposed operations. */
  readonly approvals: Approvals;
  /** The live module at the start of the request. It stays open until the request is closed. */
  readonly module: LiveModule | null;
  readonly #generations: GenerationSource & WaitingSource;
  #matched: MatchedRoute | null = null;

  constructor(
    target: ForwardTarget,
    request: CallerRequest,
    { generations, credentialHeaders, responses, approvals }: RouteServices,
  ) {
    this.responses = responses;
    this.target = target;
    this.request = request;
    this.facts = request.facts;
    this.approvals = approvals;
    this.#generations = generations;
    const { module } = target;
    this.module = (module && generations.current.get(module)) || null;
    this.facts.problems = readProblemForm(this);
    this.credentialHeaders = credentialHeaders;
    this.module?.client.hold();
  }

  get isPublic(): boolean {
    return isPublicRoute(this.module, this.request, this.target);
  }

  get allow(): Descriptor['allow'] {
    return (this.module?.descriptor ?? this.waiting)?.allow;
  }

  get waiting(): WaitingModule | null {
    const { module } = this.target;
    return module === null || this.module !== null ? null : this.#generations.findWaiting(module);
  }

  recordModule(): void {
    if (this.target.kind === 'module') this.facts.module = this.module?.name ?? null;
  }

  /** @throws Error before a route has matched. */
  get matched(): MatchedRoute {
    if (this.#matched === null) throw new Error('the request has no route yet');
    return this.#matched;
  }

  /** Whether the body is complete before the call: a signature, or an approval, covers all of it. */
  get holdsBody(): boolean {
    return this.request.bodySha256 !== null || this.needsApproval;
  }

  get needsApproval(): boolean {
    return this.exposed?.shown.needsApproval === true;
  }

  /** @throws HostError 404 if the request names the operation of another route. */
  useRoute(match: RouteMatch<LiveRoute>): void {
    const { module, target } = this;
    const { operation } = this.request;
    if (module === null || target.kind !== 'module') throw new Error('a route has a module');
    if (operation !== null) this.exposed = findNamedRoute(module, operation, match.value);
    this.#matched = { module, target, match };
    this.facts.route = match.value.declaredPath;
  }

  close(): void {
    this.module?.client.release();
  }
}

export function describeRoute({ module, target, match: { value } }: MatchedRoute): ErrorDetail[] {
  return [
    { field: 'module', reason: module.name },
    { field: 'method', reason: value.method },
    { field: 'declared_path', reason: value.declaredPath },
    { field: 'provider_path', reason: target.providerPath },
  ];
}
