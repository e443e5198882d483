import {
  ALL_CALL_MEMBERS,
  type CollectedFields,
  listCallMembers,
  type Rejection,
} from '../contract/call-record.js';
import type {
  Actor,
  Cancellation,
  FailureCode,
  NamedOperation,
  Outcome,
  Progress,
  ProviderOperation,
  Secret,
} from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { type Mount, mountBase } from '../descriptor/sections/mount.js';
import type { ProblemForm } from '../descriptor/sections/responses.js';
import type { ErrorDetail, HostError } from '../errors.js';
import { createFixedShape } from '../lib/fixed-shape.js';
import type { DecodedPath, PathProblem } from '../lib/routing/request-path.js';
import type { Mask } from '../lib/secrets/mask-secrets.js';
import type { HeldMemory } from '../provider/held-memory.js';
import type { AttemptResult, CallFacts, Upload } from '../provider/provider-call.js';
import type { RateStatus } from '../provider/rate-limits.js';
import type { StepName } from '../steps.js';
import type { CacheResult } from './cache/cache-status.js';
import type { Handshake } from './websocket/handshake.js';

/** A request id that a client may choose. */
export const CLIENT_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The client has closed the connection: no response can be sent. */
export class ClientClosed extends Error {
  override readonly name = 'ClientClosed';

  constructor() {
    super('the client has closed the connection');
  }
}

export interface ModuleTarget extends DecodedPath {
  /** The configured name, decoded: `acme/crm`. */
  readonly module: string;
  /** Raw path and query within the module, byte for byte: `/contacts/a%20b?x=1`. */
  readonly forwardTarget: string;
  /** `/` and the decoded segments. */
  readonly providerPath: string;
  /** The mount of the call; `null` for `/modules/{module}/http`. */
  readonly mount: Mount | null;
}

/** The raw path before `forwardTarget`: that of the mount, or the module's own. */
export function calledBase({ module, mount }: Pick<ModuleTarget, 'module' | 'mount'>): string {
  return mount === null ? `/modules/${encodeURIComponent(module)}/http` : mountBase(mount);
}

/** The host and path of the mount of the call; `null` for none. */
export function nameMount(target: ParsedTarget): string | null {
  if (target.kind !== 'module' || target.mount === null) return null;
  const { host = '', path } = target.mount;
  return `${host}${path}`;
}

/**
 * A parsed request target. Parsing works on the raw target and rejects instead of repairing, so that the bytes
 * that are matched, authorized and forwarded are the same.
 */
export type ParsedTarget =
  /**
   * A path of another shape than `/modules/{module}/http/{*path}`: a route of the host, or unknown.
   */
  | { readonly kind: 'host' }
  /** It has the shape, but matches no route: 404 after authentication. */
  | {
      readonly kind: 'unmatched';
      /** `null` if the path has no valid name of a module. */
      readonly module: string | null;
      /** An invalid name of a module, for operators. */
      readonly invalidModule?: string;
      readonly problem: PathProblem;
    }
  | ({ readonly kind: 'module' } & ModuleTarget);

/** The raw path of a target within the module. */
export function pathOf({ forwardTarget }: ModuleTarget): string {
  const end = forwardTarget.indexOf('?');
  return end === -1 ? forwardTarget : forwardTarget.slice(0, end);
}

/** The permission of a target of the console bridge, which no mount has; `null` for any other. */
export function readBridgePermission({
  segments,
  mount,
}: Pick<ModuleTarget, 'segments' | 'mount'>): string | null {
  if (mount !== null) return null;
  return segments.length === 2 && segments[0] === 'console-bridge' ? (segments[1] ?? null) : null;
}

/** The client of a request, and the address by which it reached the host. */
export interface Client {
  /** The address in its usual form; an IPv4 address in IPv6 is that IPv4 address. */
  readonly address: string;
  readonly scheme: 'http' | 'https';
  /** The public host and port; `null` if no setting defines them. */
  readonly host: string | null;
}

/**
 * The current actor of earlier credentials; `expired` for those that are rejected for that alone,
 * `null` for others that are rejected now.
 */
export type CurrentActor = Actor | 'expired' | null;

/** A request for handlers, without Koa and the socket. */
export interface CallerRequest {
  /** The method as on the request line: `HEAD` stays `HEAD`. */
  readonly method: string;
  /** The target as on the request line. */
  readonly target: string;
  /**
   * @param isPublic called for a request without credentials: whether it may continue as an
   * anonymous caller
   * @throws HostError 401, 403, 429, 503.
   */
  authenticate(isPublic?: () => boolean): void | Promise<void>;
  /**
   * Authenticates the same credentials again, without counting a request.
   * @throws HostError 503 if they cannot be verified now.
   */
  reauthenticate(): Promise<CurrentActor>;
  /** @throws Error before the request is authenticated. */
  readonly actor: Actor;
  /** `null` if it is unknown, such as for a request that a surface itself creates. */
  readonly client: Client | null;
  /** The operation that an agent calls; `null` for a request as over HTTP. */
  readonly operation: NamedOperation | null;
  /** Receives the reports of a provider; `null` for a request whose sender does not ask for them. */
  readonly onProgress: ((progress: Progress) => void) | null;
  readonly requestId: string;
  readonly correlationId: string;
  /** The SHA-256 of the body that the credentials cover, in hex; `null` for credentials of any body. */
  readonly bodySha256: string | null;
  readonly headers: {
    get(name: string): string | undefined;
    count(name: string): number;
  };
  /**
   * Returns a promise only for a body that has not arrived.
   * @throws HostError 400 for a body of more than `limit` bytes.
   */
  readBody(limit: number): Buffer | Promise<Buffer>;
  /**
   * The body as a stream; `null` for a request without one. Call it once, instead of `readBody`.
   * @throws HostError 400 for a body that announces more than `maxBytes`.
   * @throws RejectedCall when its buffer exceeds a memory budget.
   */
  openUpload(maxBytes: number, descriptor: Pick<Descriptor, 'limits' | 'records'>): Upload | null;
  /**
   * Returns the complete body, or a stream if it is longer than `limits.hold_request_bytes`. Call
   * it once, instead of `readBody`. Returns a promise only for a body that has not arrived.
   * @param check creates the check of a streamed body
   * @throws HostError 400 for a body of more than `limits.request_bytes`, and errors of `check`.
   * @throws RejectedCall when it exceeds a memory budget.
   */
  readOrStream(
    limits: Descriptor['limits'],
    check: () => BodyCheck,
  ): Buffer | Upload | Promise<Buffer | Upload>;
  /** Removes the credentials of the caller from a text that quotes a provider. */
  readonly mask: Mask;
  /** Adds credentials that the host has obtained for the caller. */
  addSecrets(secrets: readonly Secret[]): void;
  /** The offers of a client that opens a WebSocket; `null` for any other request. */
  readonly handshake: Handshake | null;
  /** Whether the client uses HTTP/1.0, in which it cannot detect a truncated body. */
  readonly isHttp10: boolean;
  /** Aborted when the client closes the connection. */
  readonly signal: Cancellation;
  /** The memory that the request occupies until its response is sent. */
  readonly held?: HeldMemory;
  /**
   * Headers of every reply to the request: the remaining rates, the result of the cache. Empty for
   * none.
   */
  replyHeaders: readonly string[];
  /** The remaining rate of the actor on this host; `null` without a limit. */
  readonly hostRate: RateStatus | null;
  /** Facts for the log line, the metrics and the call records. Handlers fill them in. */
  readonly facts: RequestFacts;
}

/** Validates a body during its arrival. */
export interface BodyCheck {
  /** @returns the reason why the body cannot become valid */
  add(part: Uint8Array): HostError | null;
  /** @returns the reason why the complete body is invalid */
  end(): HostError | null;
}

/** Facts about one request for the log line, the metrics and the call records. */
export interface RequestFacts extends Omit<CollectedFields, 'failure'>, CallFacts {
  /**
   * `forwarded`: for a forwarded route, which is counted and recorded; `preflight`: of a configured
   * origin; `surface`: for a surface itself. `null` for any other request.
   */
  kind: 'forwarded' | 'preflight' | 'surface' | null;
  /** The missing part of a preflight; `null` for none. */
  preflightGap: 'method' | 'headers' | null;
  /** The current step, and at the end the one that failed; `null` for a request that passed all. */
  step: StepName | null;
  /**
   * The reason why the host has rejected the request; `null` for no rejection, and for a closed
   * connection.
   */
  rejection: HostError | null;
  /** The form of Problems of the module that the request names. */
  problems: ProblemForm;
  /** The entry of the tokens file, or the id of the key, that the credentials named; `null` for none. */
  token: string | null;
  bytesIn: number;
  provider_ms: number | null;
  failure: FailureCode | null;
  /** `null` without traces. */
  span: RequestSpan | null;
  /** The result of the route's cache; `null` for a route without one. */
  cache: CacheResult | null;
  /** The violations of the schemas of the route; `null` for none. */
  schemaViolations: SchemaViolations[] | null;
  /** Recorded with the call; `null` unless the descriptor sets `records.capture_bytes`. */
  bodies: CallBodies | null;
}

interface SchemaViolations {
  readonly direction: 'input' | 'output';
  readonly mode: 'enforce' | 'report';
  readonly details: readonly ErrorDetail[];
}

/** The bodies of a call before redaction. */
export interface CallBodies {
  /** The maximum recorded length of each. */
  readonly captureBytes: number;
  /** Removes the credentials of the caller, and those of the host, which the provider could repeat. */
  readonly mask: Mask;
  readonly request: Uint8Array | null;
  response: Outcome['body'];
}

const NOTHING_COLLECTED = Object.fromEntries(
  listCallMembers(({ isCollected }) => isCollected).map((name) => [
    name,
    ALL_CALL_MEMBERS[name].isNullable ? null : 0,
  ]),
) as unknown as CollectedFields;

const NOTHING_KNOWN: RequestFacts = createFixedShape({
  ...NOTHING_COLLECTED,
  kind: null,
  preflightGap: null,
  step: null,
  rejection: null,
  problems: 'problem',
  token: null,
  bytesIn: 0,
  failure: null,
  span: null,
  cache: null,
  schemaViolations: null,
  bodies: null,
});

export function createRequestFacts(): RequestFacts {
  return { ...NOTHING_KNOWN };
}

/** The span of one request, and those of the attempts below it. */
export interface RequestSpan {
  /** 32 hex digits: the client's, if it sent a valid `traceparent`. */
  readonly traceId: string;
  /** Begins the span of an attempt and returns a `traceparent` with it as the parent. */
  beginAttempt(operation: ProviderOperation): string;
  /** Ends the span of the attempt that began last. */
  endAttempt(result: AttemptResult): void;
  end(status: number, rejection: Rejection | null): void;
}

/** Creates the spans of requests. */
export interface RequestTracing {
  begin(request: TracedRequest): RequestSpan;
}

export interface TracedRequest {
  readonly method: string;
  /** The scheme by which the client reached the host. */
  readonly scheme: 'http' | 'https';
  /** The template of one of the host's own routes, such as the bridge; `null` for routes of modules. */
  readonly hostRoute: string | null;
  readonly headers: { get(name: string): string | undefined };
  readonly requestId: string;
  /** Read when spans end, when its facts are complete. */
  readonly facts: RequestFacts;
}
