import type { DangerLevel, Manifest } from './manifest.js';
import type { ModuleOwner } from './module-status.js';

/** Names that no tool of a module has, because a surface that lists tools by search uses them. */
export const RESERVED_TOOL_NAMES = [
  ...(['search_tools', 'describe_tool', 'read_tool', 'call_tool'] as const),
] as const;

/** The modules of a host at one moment, over all its processes. */
export interface HostSnapshot {
  /** The time of the snapshot. Milliseconds since 1970. */
  readonly at: number;
  /** The number of serving processes. */
  readonly workers: number;
  /** The fleet that the host belongs to; `null` for none. */
  readonly fleet: string | null;
  /** One for each descriptor, by name; those without a name first. */
  readonly modules: readonly ModuleSnapshot[];
  /** Files in the modules folder that are ignored, as in `GET /modules`. */
  readonly ignored: readonly { readonly file: string; readonly reason: string }[];
}

/** One descriptor and the version that it serves. */
export interface ModuleSnapshot {
  /** The name in the descriptor; `null` if the descriptor cannot be read. */
  readonly name: string | null;
  /** The file in the modules folder. */
  readonly file: string;
  /** The state as in `GET /modules`: `live`, `waiting`, `stale`, … */
  readonly state: string;
  /** The start of the state. ISO 8601, UTC. */
  readonly since: string;
  /** The reason of the state; `null` without one. */
  readonly reason: string | null;
  /** A remedy for operators. */
  readonly hint: string | null;
  /** The owner of the module; absent without one. */
  readonly owner?: ModuleOwner;
  /** Calls since the version began to serve. */
  readonly counts: ModuleCounts;
  /** The endpoints of its provider. */
  readonly endpoints: readonly EndpointSnapshot[];
  /** The digest of the manifest; `null` for a module that does not serve. */
  readonly manifestDigest: string | null;
  /** Changes with the descriptor, the manifest and the files that they name; `null` as above. */
  readonly configDigest: string | null;
  /** The manifest without the defaults of sensitive fields; `null` if the module serves nothing. */
  readonly manifest: Manifest | null;
  /**
   * The operations that `mcp` of the descriptor exposes, in the order of the manifest; absent if it
   * exposes none.
   */
  readonly operations?: readonly ExposedOperation[];
}

/** An operation that a module exposes to agents: a route, an entity or an action. */
export interface ExposedOperation {
  /** Unique in the module, as in `mcp.only`: `list_contacts`, `entity:contacts`, `action:merge`. */
  readonly id: string;
  /** The part of the manifest that declares it. */
  readonly kind: 'route' | 'entity' | 'action';
  /** `GET /contacts/{id}` of a route; the name of an entity or an action. */
  readonly name: string;
  /** Whether its calls only read: entities, and routes that are a GET or say so. */
  readonly reads: boolean;
  /** The level of the manifest, or its default. */
  readonly dangerLevel: DangerLevel;
  /** Whether each call needs the approval of a person. */
  readonly needsApproval: boolean;
  /**
   * The response of a route: `envelope` wraps the provider's JSON, `raw` and `bytes` are the
   * provider's own response.
   */
  readonly response: 'envelope' | 'raw' | 'bytes';
  /**
   * Whether the host answers 502 instead of each 2xx that violates the `output_schema` of the route,
   * also for one without a body. False without such a schema.
   */
  readonly enforcesOutput: boolean;
  /** The longest result that an agent gets: text and structure. Bytes. */
  readonly maxResultBytes: number;
  /** The longest images, audio and blobs of a result together, in base64. Bytes. */
  readonly maxMediaBytes: number;
  /**
   * Whether the route is a tool of its provider ({@link Supports.toolResults}): the arguments are the body itself, and
   * the response is a {@link ToolResult}.
   */
  readonly isTool: boolean;
  /**
   * The name and description of its tool in the descriptor, which replace those of the manifest.
   */
  readonly tool?: { readonly name?: string | undefined; readonly description?: string | undefined };
  /** Its arguments, in the order in which they are shown. */
  readonly arguments: readonly OperationArgument[];
}

/** An argument of an exposed operation. */
export interface OperationArgument {
  /** Unique in the operation, and accepted by model APIs: `^[A-Za-z0-9_.-]{1,64}$`. */
  readonly name: string;
  /** Its place in the request: of a route, or of the call of an entity or an action. */
  readonly place: 'path' | 'query' | 'body' | 'limit' | 'cursor';
  /** The name in that place, which may have any characters. */
  readonly wireName: string;
  /** Whether a call without it is rejected. */
  readonly isRequired: boolean;
  /** Whether a value of the path may have several segments. Default false. */
  readonly isRest?: boolean;
  /** Whether the body is text rather than JSON. Default false. */
  readonly isText?: boolean;
}

/** The calls of one module. */
export interface ModuleCounts {
  /** Calls that have ended. */
  readonly calls: number;
  /** Failed calls. */
  readonly failed: number;
  /** Calls in flight. */
  readonly inFlight: number;
  /** Calls that wait for a free place. */
  readonly queued: number;
  /** Open streams of events; absent for none. */
  readonly streams?: number;
}

/** One endpoint of a provider. */
export interface EndpointSnapshot {
  /** Its address, as in `GET /modules`. */
  readonly endpoint: string;
  /** `up`, `down`, or the state of its circuit breaker. */
  readonly state: string;
  /** Its routes with a circuit breaker that is not closed. */
  readonly routes: readonly { readonly route: string; readonly state: string }[];
}
