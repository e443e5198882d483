import type { Actor } from '../../contract/index.js';
import type { StructuredText } from '../../document/parse-document.js';
import { HostError } from '../../errors.js';
import type { RouteMatch } from '../../lib/routing/route-table.js';
import {
  type LiveModule,
  type LiveRoute,
  MANIFEST_PENDING,
  type RoutedModule,
  type WaitingModule,
} from '../../modules/live-module.js';
import type { ModuleRecord } from '../../modules/module-record.js';
import { Authorization, UNAUTHENTICATED } from '../authorization.js';
import {
  type Caller,
  type ForwardTarget,
  isPublicRoute,
  type RouteRequest,
} from '../forward/route-call.js';
import { type ParsedTarget, readBridgePermission } from '../request.js';
import type { EndpointEntry } from '../status/module-overview.js';
import type { ExplainedRoles } from './decide-scope.js';
import type { ExplainedEndpoint } from './explanation.js';

/** `/console-bridge/{permission}` never belongs to a module, for any method. */
export function isBridgePath(path: ParsedTarget): boolean {
  return path.kind === 'module' && readBridgePermission(path) !== null;
}

export interface ExplainedRequest {
  readonly method: string;
  readonly target: string;
  readonly path: ParsedTarget;
  /** `null` for invalid credentials; anonymous without credentials. */
  readonly actor: Actor | null;
  /** The address of the client; `null` if it is unknown. */
  readonly client: string | null;
}

/** A request whose actor, if it has one, may pass the first step. */
export interface IdentifiedRequest extends ExplainedRequest {
  readonly hasCredentials: boolean;
}

/** Only a running host has them. */
interface ExplainedCredentials {
  readonly client: Pick<LiveModule['client'], 'credentialProblem'>;
}

export interface ExplainedRecord
  extends Pick<ModuleRecord, 'file' | 'name' | 'state' | 'since' | 'reason' | 'hint'> {
  readonly live: (RoutedModule & Partial<ExplainedCredentials>) | null;
  /** `null` for a file that cannot be read. */
  readonly descriptor: Omit<WaitingModule, 'reason'> | null;
  readonly endpoints: readonly Pick<EndpointEntry, 'endpoint' | 'state' | 'routes'>[];
}

/** The current files of modules. */
export interface ModuleDocuments {
  /** @param file relative to the modules folder. `null` if it cannot be read. */
  read(file: string): Promise<Pick<StructuredText, 'value' | 'locate'> | null>;
}

/** Finds the live one of several descriptors with the same name. */
export function findRecord(
  records: readonly ExplainedRecord[],
  module: string | null,
): ExplainedRecord | null {
  const named = records.filter(({ name, live }) => (live?.name ?? name) === module);
  return named.find(({ live }) => live !== null) ?? named[0] ?? null;
}

export interface ExplainContext {
  readonly records: readonly ExplainedRecord[];
  readonly roles: ExplainedRoles;
  readonly documents: ModuleDocuments;
}

/** The modules that texts for operators may name. */
export interface ExplainedModules {
  readonly records: readonly ExplainedRecord[];
  /** The record of the module that the request names. */
  readonly record: ExplainedRecord | null;
}

class ExplainedCaller implements Caller {
  readonly method: string;
  readonly handshake = null;
  /** The id has the length of those that the host creates. */
  readonly requestId = `req_${'0'.repeat(32)}`;
  readonly client: Caller['client'];
  readonly #actor: Actor | null;
  readonly #hasCredentials: boolean;

  constructor({ method, actor, client, hasCredentials }: IdentifiedRequest) {
    this.method = method;
    this.client = client === null ? null : { address: client };
    this.#actor = actor;
    this.#hasCredentials = hasCredentials;
  }

  get actor(): Actor {
    if (this.#actor === null) throw new Error('the request is not authenticated');
    return this.#actor;
  }

  authenticate(isPublic: () => boolean = () => false): void {
    const actor = this.#actor;
    if (actor !== null && (actor.kind !== 'anonymous' || isPublic())) return;
    const { missing, invalid } = UNAUTHENTICATED;
    throw new HostError('unauthorized', this.#hasCredentials ? invalid : missing, {
      nextActions: ['send a valid bearer token in the authorization header'],
    });
  }
}

type ExplainedHost = Pick<ExplainContext, 'records' | 'roles'>;

/** A request without a call: the steps of the host run on it as far as they can decide. */
class ExplainedCall implements ExplainedModules {
  readonly request: Caller;
  /** `null` for missing or invalid credentials. */
  readonly caller: Actor | null;
  readonly records: readonly ExplainedRecord[];
  readonly roles: ExplainedRoles;
  readonly record: ExplainedRecord | null;

  constructor(
    request: IdentifiedRequest,
    { records, roles }: ExplainedHost,
    record: ExplainedRecord | null,
  ) {
    this.request = new ExplainedCaller(request);
    this.caller = request.actor;
    this.records = records;
    this.roles = roles;
    this.record = record;
  }

  get module(): RoutedModule | null {
    return this.record?.live ?? null;
  }

  get allow(): WaitingModule['allow'] {
    return (this.module?.descriptor ?? this.waiting)?.allow;
  }

  get waiting(): WaitingModule | null {
    const { record } = this;
    if (record?.state !== 'waiting' || record.live !== null || record.descriptor === null)
      return null;
    return { ...record.descriptor, reason: MANIFEST_PENDING };
  }
}

export class ExplainedRouteCall extends ExplainedCall implements RouteRequest {
  readonly target: ForwardTarget;
  readonly authorization = Authorization.forRoute();
  /** `null` before a route has matched. */
  route: RouteMatch<LiveRoute> | null = null;

  constructor(request: IdentifiedRequest, target: ForwardTarget, host: ExplainedHost) {
    super(request, host, findRecord(host.records, target.module));
    this.target = target;
  }

  get isPublic(): boolean {
    return isPublicRoute(this.module, this.request, this.target);
  }

  get matched(): { readonly match: RouteMatch<LiveRoute> } {
    if (this.route === null) throw new Error('the request has no route yet');
    return { match: this.route };
  }

  useRoute(match: RouteMatch<LiveRoute>): void {
    this.route = match;
  }

  /** The known problem of the credentials for the provider; `null` for none. */
  get credentials(): string | null {
    const { live = null } = this.record ?? {};
    const problem = live?.client?.credentialProblem() ?? null;
    const words = [
      ...(live?.descriptor.configDescription?.exchange
        ? ['exchanges the token of the caller; 403 for a caller without one of the issuer']
        : []),
      ...(problem === null ? [] : [`the last request for a token failed: ${problem}`]),
    ];
    return words.length === 0 ? null : words.join('; ');
  }

  /** The state of each endpoint for the route, including its circuit breaker for the route. */
  get endpoints(): readonly ExplainedEndpoint[] {
    const name = this.route?.value.name;
    if (name === undefined || this.record === null) return [];
    return this.record.endpoints.map(({ endpoint, state, routes }) => {
      const route = routes.find((other) => other.route === name);
      return { endpoint, state: state === 'open' ? state : (route?.state ?? state) };
    });
  }
}

/** A request to the console bridge. The digests are in the body. */
export class ExplainedBridgeCall extends ExplainedCall {
  readonly name: string;
  readonly permission: string;
  readonly authorization = Authorization.forBridge();

  constructor(
    request: IdentifiedRequest,
    { name, permission }: { readonly name: string; readonly permission: string },
    host: ExplainedHost,
    record: ExplainedRecord | null,
  ) {
    super(request, host, record);
    this.name = name;
    this.permission = permission;
  }
}
