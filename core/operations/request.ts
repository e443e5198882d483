import type {
  Actor,
  Cancellation,
  FailureCode,
  Outcome,
  ProviderOperation,
} from '../contract/index.js';
import type { ErrorDetail } from '../errors.js';
import type { HeldMemory } from '../provider/held-memory.js';
import type { AttemptResult, CallFacts } from '../provider/provider-call.js';

/** The client has closed the connection: no response can be sent. */
export class ClientClosed extends Error {
  override readonly name = 'ClientClosed';

  constructor() {
    super('the client has closed the connection');
  }
}

/** The target of a request to a module. */
export interface ModuleTarget {
  /** The configured name, decoded: `acme/crm`. */
  readonly module: string;
  /** Raw path and query within the module, byte for byte: `/contacts/a%20b?x=1`. */
  readonly forwardTarget: string;
  /** Decoded segments, of which none is empty; no segment for the root. */
  readonly segments: readonly string[];
  /** `/` and the decoded segments. */
  readonly providerPath: string;
}

/** The permission of a target of the console bridge; `null` for any other. */
export function readBridgePermission({ segments }: Pick<ModuleTarget, 'segments'>): string | null {
  return segments.length === 2 && segments[0] === 'console-bridge' ? (segments[1] ?? null) : null;
}

/** A request as handlers see it, without Koa and the socket. */
export interface CallerRequest {
  /** As on the request line: `HEAD` stays `HEAD`. */
  readonly method: string;
  /** As on the request line. */
  readonly target: string;
  readonly actor: Actor;
  readonly requestId: string;
  readonly correlationId: string;
  /** The SHA-256 of the body that the credentials cover, in hex; `null` for credentials of any body. */
  readonly bodySha256: string | null;
  readonly headers: {
    get(name: string): string | undefined;
    count(name: string): number;
  };
  /** @throws HostError 400 for a body of more than `limit` bytes. */
  readBody(limit: number): Promise<Buffer>;
  /** Aborted when the client closes the connection. */
  readonly signal: Cancellation;
  /** What the request occupies until its response has left. */
  readonly held?: HeldMemory;
  /** Facts for the log line, the metrics and the call records. Handlers fill them in. */
  readonly facts: RequestFacts;
}

/** Facts about one request for the log line, the metrics and the call records. */
export interface RequestFacts extends CallFacts {
  /** Whether it is for a forwarded route: only those are counted and recorded. */
  isForwarded: boolean;
  /** Whether it is a preflight of a configured origin. */
  isPreflight: boolean;
  /** The surface that was called, or through which the request came; `null` for neither. */
  surface: string | null;
  /** Whether it is for the surface itself. */
  isForSurface: boolean;
  module: string | null;
  /** The template; `null` where none matched. */
  route: string | null;
  traceId: string | null;
  bytesIn: number;
  /** The time of all attempts, without the pauses between them; `null` without an attempt. */
  providerMs: number | null;
  failure: FailureCode | 'status' | null;
  /** Why the host has rejected the request, as a word for operators; `null` where its status says enough. */
  reason: string | null;
  /** What went wrong with the provider, for operators: at most 200 characters. */
  failureDetail: string | null;
  /** `null` where traces are off. */
  span: RequestSpan | null;
  /** What violated the schemas of the route; `null` for nothing. */
  schemaViolations: SchemaViolations[] | null;
  /** Kept for the call record; `null` unless the descriptor sets `records.capture_bytes`. */
  bodies: CallBodies | null;
}

/** What violated the schemas of one direction. */
interface SchemaViolations {
  readonly direction: 'input' | 'output';
  readonly mode: 'enforce' | 'report';
  readonly details: readonly ErrorDetail[];
}

/** The bodies of a call, not redacted yet. */
export interface CallBodies {
  /** How much of each is kept at most. */
  readonly captureBytes: number;
  readonly request: Uint8Array | null;
  response: Outcome['body'];
}

export function createRequestFacts(): RequestFacts {
  return {
    isForwarded: false,
    isPreflight: false,
    surface: null,
    isForSurface: false,
    module: null,
    route: null,
    traceId: null,
    bytesIn: 0,
    providerMs: null,
    attempts: 0,
    endpoint: null,
    failure: null,
    reason: null,
    failureDetail: null,
    span: null,
    schemaViolations: null,
    bodies: null,
  };
}

/** The span of one request, and those of the attempts below it. */
export interface RequestSpan {
  /** 32 hex digits: the client's, if it sent a valid `traceparent`. */
  readonly traceId: string;
  /** Begins the span of an attempt and returns a `traceparent` with it as the parent. */
  beginAttempt(operation: ProviderOperation): string;
  /** Ends the span of the attempt that began last. */
  endAttempt(result: AttemptResult): void;
  end(status: number): void;
}

/** Creates the spans of requests. */
export interface RequestTracing {
  begin(request: TracedRequest): RequestSpan;
}

export interface TracedRequest {
  readonly method: string;
  /** How the client reached the host. */
  readonly scheme: 'http' | 'https';
  /** The template of one of the host's own routes, such as the bridge; `null` for routes of modules. */
  readonly hostRoute: string | null;
  readonly headers: { get(name: string): string | undefined };
  readonly requestId: string;
  /** Read when spans end, when its facts are complete. */
  readonly facts: RequestFacts;
}
