// The one declaration of the record of a call. Storage, logs, responses and pages derive from these
// members; `docs/reference/call-record.md` is generated from them.

/** The type of a member. `errors` is a list of `{field, reason}`, as in a Problem. */
type CallMemberKind = 'text' | 'integer' | 'number' | 'errors';

/** The declaration of one member of a call, from which its storage and responses derive. */
export interface CallMember {
  /** The type of the member. */
  readonly kind: CallMemberKind;
  /** Whether the value may be `null`. */
  readonly isNullable: boolean;
  /** The heading of the member on the command line and in the console. */
  readonly label: string;
  /** The description on the reference page. */
  readonly text: string;
  /** Whether the handlers of a request collect it in its facts; otherwise it follows from the request. */
  readonly isCollected?: true;
  /** Whether the log line has it. */
  readonly isLogged?: true;
  /** Whether `GET /calls` selects by it: it then has an index. */
  readonly isFilter?: true;
  /** The attribute of the request's span, where it is not null. */
  readonly attribute?: string;
  /** The version of the store's schema that added its column, if not the first one. */
  readonly since?: number;
}

const TEXT = { kind: 'text', isNullable: false } as const;
const NULLABLE_TEXT = { kind: 'text', isNullable: true } as const;
/** Handlers collect it, and the log contains it. */
const COLLECTED_TEXT = { ...NULLABLE_TEXT, isCollected: true, isLogged: true } as const;
const NULLABLE_INTEGER = { kind: 'integer', isNullable: true } as const;

/** Members of every call; `null` without a value. */
export const CALL_MEMBERS = {
  at: {
    ...TEXT,
    label: 'at',
    text: 'when it ended, ISO 8601 in UTC',
  },
  request_id: {
    ...TEXT,
    label: 'request',
    text: 'the `x-request-id` of the answer',
    isLogged: true,
    isFilter: true,
    attribute: 'modgate.request_id',
  },
  correlation_id: {
    ...TEXT,
    label: 'correlation',
    text: 'the `x-correlation-id` of the answer',
    isLogged: true,
  },
  trace_id: {
    ...COLLECTED_TEXT,
    label: 'trace',
    text: 'the id of its trace, 32 hex digits',
  },
  module: {
    ...COLLECTED_TEXT,
    label: 'module',
    text: 'the live module that matched',
    isFilter: true,
    attribute: 'modgate.module',
  },
  method: {
    ...TEXT,
    label: 'method',
    text: 'as on the request line',
    isLogged: true,
  },
  route: {
    ...COLLECTED_TEXT,
    label: 'route',
    text: 'the template of the route that matched',
    isFilter: true,
  },
  status: {
    kind: 'integer',
    isNullable: false,
    label: 'status',
    text: 'the status of the answer; 499 if the client had closed the connection, or the host stopped before the end',
    isLogged: true,
    isFilter: true,
  },
  failure: {
    ...COLLECTED_TEXT,
    label: 'failure',
    text: 'how the call of the provider failed: `unavailable`, `timeout`, `overloaded`, `refused`, `protocol`, `status`, `cancelled`',
    attribute: 'modgate.failure',
  },
  failure_detail: {
    ...COLLECTED_TEXT,
    label: 'detail',
    text: 'the failure of the provider, or the code of the HTTP parser, at most 200 characters: `ECONNREFUSED 127.0.0.1:4100`, `HPE_INVALID_URL`',
    attribute: 'modgate.failure_detail',
  },
  actor: {
    ...NULLABLE_TEXT,
    label: 'actor',
    text: 'who called, `service:crm-sync`; `null` without authentication',
    isLogged: true,
    isFilter: true,
  },
  client: {
    ...NULLABLE_TEXT,
    label: 'client',
    text: 'the address of the client; behind a trusted proxy, as that proxy names it',
    isLogged: true,
  },
  duration_ms: {
    kind: 'number',
    isNullable: false,
    label: 'duration',
    text: 'from the parsed head to the decision about the answer, in milliseconds',
    isLogged: true,
  },
  provider_ms: {
    kind: 'number',
    isNullable: true,
    label: 'provider',
    text: 'of all attempts, without the pauses between them, in milliseconds',
    isCollected: true,
    isLogged: true,
  },
  attempts: {
    kind: 'integer',
    isNullable: false,
    label: 'attempts',
    text: 'how often the provider was called',
    isCollected: true,
    isLogged: true,
  },
  endpoint: {
    ...NULLABLE_TEXT,
    label: 'endpoint',
    text: 'the endpoint of the last attempt',
    isCollected: true,
  },
} as const satisfies Record<string, CallMember>;

/** Members that are added only if they apply, such as a surface or an ignored body. */
export const ENTRY_MEMBERS = {
  surface: {
    ...COLLECTED_TEXT,
    label: 'through',
    text: 'the surface through which it came; absent over HTTP',
    attribute: 'modgate.surface',
  },
  mount: {
    ...COLLECTED_TEXT,
    label: 'mount',
    text: 'the mount through which it came, its host and path: `api.example/orders`; absent below `/modules`',
  },
  host: {
    ...NULLABLE_TEXT,
    label: 'host',
    text: 'the id of the host that answered, as `modgate fleet` shows it; absent without a fleet',
    isFilter: true,
  },
  cache: {
    ...COLLECTED_TEXT,
    label: 'cache',
    text: 'what the cache of its route did: `hit`, `stale`, `collapsed`, `miss`, `bypass`; absent for a route without one',
    attribute: 'modgate.cache',
  },
  request_body: {
    ...COLLECTED_TEXT,
    label: 'body',
    text: '`ignored` for the body of a `GET` or `HEAD` that the route does not carry; otherwise absent, or the captured body',
    since: 17,
  },
} as const satisfies Record<string, CallMember>;

/**
 * Members that are added for a streamed body, of bytes or of events, for a WebSocket, and for a body
 * that has ended with the right of its caller.
 */
export const STREAM_MEMBERS = {
  bytes_in: {
    ...NULLABLE_INTEGER,
    label: 'bytes in',
    text: 'received bytes of the request body, or of the frames of the caller; `null` unless it was streamed',
    isCollected: true,
  },
  request_sha256: {
    ...NULLABLE_TEXT,
    label: 'sent',
    text: 'the SHA-256 of the request body, in hex; `null` without `records.digests`, and unless the whole body was received',
    isCollected: true,
  },
  bytes_out: {
    ...NULLABLE_INTEGER,
    label: 'bytes out',
    text: 'forwarded bytes of the response body, or of the frames of the provider; `null` unless it was streamed',
    isCollected: true,
  },
  response_sha256: {
    ...NULLABLE_TEXT,
    label: 'received',
    text: 'the SHA-256 of the response body, in hex; `null` without `records.digests`, and unless the whole body was received',
    isCollected: true,
  },
  stream_end: {
    ...NULLABLE_TEXT,
    label: 'ended by',
    text: 'how a stream of events ended: `complete`, `problem`, `client`, `max_ms`, `reload`, `shutdown`, `unauthorized`; `null` for any other body, unless the right of its caller was withdrawn',
    isCollected: true,
  },
  frames_in: {
    ...NULLABLE_INTEGER,
    label: 'frames in',
    text: 'forwarded frames of the caller; `null` without a WebSocket',
    isCollected: true,
  },
  frames_out: {
    ...NULLABLE_INTEGER,
    label: 'frames out',
    text: 'forwarded frames of the provider; `null` without a WebSocket',
    isCollected: true,
  },
  closed_by: {
    ...NULLABLE_TEXT,
    label: 'closed by',
    text: 'the side that closed a WebSocket first: `caller`, `provider`, `host`; `null` without a WebSocket',
    isCollected: true,
  },
  close_code: {
    ...NULLABLE_INTEGER,
    label: 'close code',
    text: 'the code of the first close frame of a WebSocket; 1005 if it had none, 1006 if a connection was lost; `null` without a WebSocket',
    isCollected: true,
  },
} as const satisfies Record<string, CallMember>;

/** Members that are added if the host rejected the request. */
export const REJECTION_MEMBERS = {
  code: {
    ...NULLABLE_TEXT,
    label: 'code',
    text: 'the `code` of the Problem; `null` for a preflight whose request was not granted',
    isFilter: true,
    attribute: 'modgate.code',
  },
  detail: {
    ...TEXT,
    label: 'problem',
    text: 'the `detail` of the Problem',
  },
  errors: {
    kind: 'errors',
    isNullable: false,
    label: 'errors',
    text: 'the first 10 `errors` of the Problem; with `detail` at most 1 KiB',
  },
  step: {
    ...NULLABLE_TEXT,
    label: 'step',
    text: 'the step that decided',
    isFilter: true,
    attribute: 'modgate.step',
  },
  reason: {
    ...NULLABLE_TEXT,
    label: 'reason',
    text: 'a word that refines the step',
    attribute: 'modgate.reason',
  },
  reason_detail: {
    ...NULLABLE_TEXT,
    label: 'reason detail',
    text: 'with `header` or `claim`: the name of the header or claim of the token; at most 64 characters, escaped',
    attribute: 'modgate.reason_detail',
    since: 19,
  },
  module_named: {
    ...NULLABLE_TEXT,
    label: 'named',
    text: 'the module name in the path, if no live module matched',
  },
  path_named: {
    ...NULLABLE_TEXT,
    label: 'path',
    text: 'the raw path without its query, if no route matched, or of a surface: at most 256 characters, escaped; `null` if it contains the credential of the caller',
  },
  token: {
    ...NULLABLE_TEXT,
    label: 'token',
    text: 'with a 401: the id of the entry of the tokens file, or the `kid`, if one was recognized; never a part of the credential',
  },
  roles: {
    ...NULLABLE_TEXT,
    label: 'roles',
    text: 'with a 403 for a missing scope: the roles that have it, at most 10, separated by spaces',
  },
  origin: {
    ...NULLABLE_TEXT,
    label: 'origin',
    text: 'the `origin` of a request that CORS or the check of cookies rejected: at most 256 characters, escaped',
  },
} as const satisfies Record<string, CallMember>;

type Members = Readonly<Record<string, CallMember>>;

interface KindTypes {
  readonly text: string;
  readonly integer: number;
  readonly number: number;
  readonly errors: readonly { readonly field: string | null; readonly reason: string }[];
}

type ValueOf<M extends CallMember> =
  | KindTypes[M['kind']]
  | (M['isNullable'] extends true ? null : never);

type ValuesOf<M extends Members> = { readonly [Name in keyof M]: ValueOf<M[Name]> };

/** The members that every call has. */
export type CallFields = ValuesOf<typeof CALL_MEMBERS>;

/** The reason why the host rejected a request. */
export type Rejection = ValuesOf<typeof REJECTION_MEMBERS>;

/** The members of a call about streamed bodies. */
export type StreamFields = ValuesOf<typeof STREAM_MEMBERS>;

/** The surface and the mount of a call, the host that responded, and an ignored body. */
export type EntryFields = ValuesOf<typeof ENTRY_MEMBERS>;

/** A call as `GET /calls` lists it. */
export interface CallRecord
  extends CallFields,
    Partial<StreamFields>,
    Partial<EntryFields>,
    Partial<Rejection> {
  /**
   * The body of the request as JSON text, without secrets and cut to `records.capture_bytes`; `null` for
   * an empty body and for one that is not JSON, absent if the descriptor captures no bodies. `ignored` for a body
   * that the route does not carry.
   */
  readonly request_body?: string | null;
  /** The body of the response, in the form of `request_body`. */
  readonly response_body?: string | null;
}

type AllMembers = typeof CALL_MEMBERS &
  typeof STREAM_MEMBERS &
  typeof ENTRY_MEMBERS &
  typeof REJECTION_MEMBERS;

/** The name of a declared member. */
export type CallMemberName = keyof AllMembers;

type NamesWith<Flag> = {
  [Name in CallMemberName]: AllMembers[Name] extends Flag ? Name : never;
}[CallMemberName];

/** The name of a member that the handlers of a request fill in. */
export type CollectedName = Exclude<NamesWith<{ readonly isCollected: true }>, keyof Rejection>;

/** The members that the handlers of a request fill in. */
export type CollectedFields = {
  -readonly [Name in CollectedName]: (CallFields & StreamFields & EntryFields)[Name];
};

/** The members by which `GET /calls` selects. */
export type CallFilterName = NamesWith<{ readonly isFilter: true }>;

/** Every declared member, in the order in which calls show them. */
export const ALL_CALL_MEMBERS: Readonly<Record<CallMemberName, CallMember>> = {
  ...CALL_MEMBERS,
  ...STREAM_MEMBERS,
  ...ENTRY_MEMBERS,
  ...REJECTION_MEMBERS,
};

/** The names of the members that pass, in the order of their declaration. */
export function listCallMembers<Name extends CallMemberName>(
  passes: (member: CallMember) => boolean | undefined,
): readonly Name[] {
  const names = Object.keys(ALL_CALL_MEMBERS) as CallMemberName[];
  return names.filter((name) => passes(ALL_CALL_MEMBERS[name])) as Name[];
}

/** The names of the members by which `GET /calls` selects. */
export const CALL_FILTERS = listCallMembers<CallFilterName>(({ isFilter }) => isFilter);
