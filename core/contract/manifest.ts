/** The methods that a manifest may declare and a provider may receive. HEAD is served by the GET route. */
export const MODULE_HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** One of {@link MODULE_HTTP_METHODS}, in upper case. */
export type Method = (typeof MODULE_HTTP_METHODS)[number];

/**
 * The manifest in files and on the wire: snake_case, `protocol: modgate.manifest.v1`.
 */
export interface Manifest {
  /** The version of the format. */
  readonly protocol: 'modgate.manifest.v1';
  /** The author's name of the module, such as `acme/crm`; the descriptor may use another one. */
  readonly module_id: string;
  /** The author's version; shown, not interpreted. */
  readonly version?: string;
  /** One line for people. */
  readonly summary?: string;
  /** Every capability that a route, an entity, an action, the configuration or a contribution names. */
  readonly capabilities: readonly string[];
  /** May be empty. Their order has no meaning. */
  readonly http_routes: readonly ManifestRoute[];
  /**
   * Schemas by name, of `[A-Za-z0-9._-]{1,128}`. Those of routes, and these themselves, refer to one with
   * `$ref: manifest:schemas/Name`. Default none.
   */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  /** Data and actions for consoles. */
  readonly admin?: {
    readonly entities?: readonly AdminEntity[];
    readonly actions?: readonly AdminAction[];
  };
  /** The configuration that operators can set. */
  readonly config?: ManifestConfig;
  /** Places in the module's pages where other modules may contribute. */
  readonly console_slots?: readonly ConsoleSlot[];
  /** The contributions of the module to slots of other modules. */
  readonly console_contributions?: readonly ConsoleContribution[];
}

/** The configuration of a module. Without a capability no console can read or write it. */
export interface ManifestConfig {
  /** The permission of the console bridge that reads the values. */
  readonly read_capability?: string;
  /** The permission of the console bridge that reads and writes the values. */
  readonly write_capability?: string;
  /** The values that operators can set. Default none. */
  readonly fields?: readonly ConfigField[];
  /** Target of `PUT` with the effective values, after each change and at start. */
  readonly delivery_path?: string;
}

/** A route at `/modules/{module}/http{path}`. */
export interface ManifestRoute {
  /** Upper case; HEAD is served by GET. */
  readonly method: Method;
  /** A template: `/contacts/{id}`. */
  readonly path: string;
  /** Without a capability, the route answers 403 to every caller. */
  readonly capability?: string;
  /** Callable without credentials where the descriptor says `public: true`, otherwise with the capability. */
  readonly access?: 'public';
  /** One line for people. */
  readonly summary?: string;
  /** The description of the route, in CommonMark. */
  readonly description?: string;
  /** Groups in the OpenAPI document, after the name of the module. Default none. */
  readonly tags?: readonly string[];
  /** Whether clients should stop calling it. Default false. */
  readonly deprecated?: boolean;
  /** The properties of its calls. */
  readonly operation?: RouteOperation;
}

/**
 * Whether the calls of a route have a body: JSON always, if the client sends it, or never; `bytes`: any media type,
 * or none, as a stream.
 */
export type BodyRule = 'required' | 'optional' | 'none' | 'bytes';

/** Every {@link EventForm}. */
export const EVENT_FORMS = ['sse', 'ndjson'] as const;

/** The form of a stream of events: Server-Sent Events, or one JSON value in each line. */
export type EventForm = (typeof EVENT_FORMS)[number];

/** Every {@link StreamForm}. */
export const STREAM_FORMS = [...EVENT_FORMS, 'websocket'] as const;

/** The form of a stream: of events, or a WebSocket. */
export type StreamForm = (typeof STREAM_FORMS)[number];

/** Every {@link DangerLevel}. */
export const DANGER_LEVELS = ['low', 'medium', 'high'] as const;

/** The possible harm of a call. */
export type DangerLevel = (typeof DANGER_LEVELS)[number];

/** The properties of calls of a route. */
export interface RouteOperation {
  /** Name in the OpenAPI document and in clients. Default made of the method and the path. */
  readonly operation_id?: string;
  /** Can only shorten the module's timeout. Milliseconds, at least 1; default the module's. */
  readonly timeout_ms?: number;
  /** Whether a failed call may be repeated: always, with an idempotency key, or never. Default `none`. */
  readonly idempotency?: 'idempotent' | 'requires_key' | 'none';
  /**
   * Whether calls change nothing, such as those of a POST that searches. Such a route is exposed to agents like a GET,
   * and its `danger_level` is `low` by default. Default: true for GET, otherwise false.
   */
  readonly reads?: boolean;
  /**
   * Whether a call has a body. Default: `required` for POST, PUT and PATCH, `none` for GET and DELETE. That of a
   * GET can only be `optional`, and is ignored otherwise.
   */
  readonly body?: BodyRule;
  /** The provider answers with any media type, and the client gets it as a stream. Default: JSON. */
  readonly response?: 'bytes';
  /**
   * Media types of a body of bytes: `image/png`, `image/*`. Default all. Beside a body of JSON, those that pass as
   * bytes, of which none is JSON. Default none.
   */
  readonly body_types?: readonly string[];
  /**
   * Media types of a response of bytes. Default all. Beside a response of JSON, those that pass as bytes, of which none
   * is JSON. Default none.
   */
  readonly response_types?: readonly string[];
  /** Can only lower the descriptor's `limits.bytes.request`. Bytes, at least 1; default the descriptor's. */
  readonly body_max_bytes?: number;
  /** Can only lower the descriptor's `limits.bytes.response`. Bytes, at least 1; default the descriptor's. */
  readonly response_max_bytes?: number;
  /**
   * The provider answers with a stream of events, which callers get while it comes. In raw mode its answer decides:
   * it may be JSON too. `websocket`, for a GET: the route opens a WebSocket. Default none.
   */
  readonly stream?: StreamForm;
  /**
   * Media types of the provider that count as this stream. Default `text/event-stream` for `sse`,
   * `application/x-ndjson`, `application/ndjson` and `application/jsonl` for `ndjson`.
   * Ranges, and types that browsers show as pages, are rejected.
   */
  readonly stream_types?: readonly string[];
  /** The provider answers with the stream or with JSON, whichever the caller accepts. Default false. */
  readonly stream_optional?: boolean;
  /** The cache for responses of a GET. Default: none. */
  readonly cache?: RouteCache;
  /**
   * Without other settings in the descriptor, agents need the approval of a person for calls above
   * `low`. Default `low` for GET and `reads`, `medium` for other POST, PUT and PATCH, `high` for
   * other DELETE.
   */
  readonly danger_level?: DangerLevel;
  /**
   * Names of path parameters whose values may contain `%2F`, `%3F`, `%23` or `%25`; they are
   * forwarded unchanged. Default none.
   */
  readonly encoded?: readonly string[];
  /** Constrains the request body; the descriptor's `schemas.input` says whether it is enforced. */
  readonly input_schema?: JsonSchema | null;
  /** Constrains the response body; the descriptor's `schemas.output` says whether it is enforced. */
  readonly output_schema?: JsonSchema | null;
  /** Constrains an object with the query parameters; arrays are repeated parameters. */
  readonly query_schema?: SchemaObject | null;
  /** Constrains an object with the parameters of the path, whose values are read as those of a query. */
  readonly path_params_schema?: SchemaObject | null;
  /** Parameters that `query_schema` cannot express. They are shown and not checked. */
  readonly parameters?: readonly RouteParameter[];
  /** Example calls for readers. `modgate check` validates them against the schemas. */
  readonly examples?: readonly RouteExample[];
}

/** A Parameter Object of OpenAPI 3.1, without references to others. */
export interface RouteParameter extends ParameterValue {
  /** Of a query parameter: no name in `query_schema`, and none of the path. */
  readonly name: string;
  /** A header is shown where the provider gets it. */
  readonly in: 'query' | 'header';
  /** CommonMark. */
  readonly description?: string;
  /** Whether the provider needs it. Default false. */
  readonly required?: boolean;
  /** Whether clients should stop sending it. Default false. */
  readonly deprecated?: boolean;
  /** Whether the value may be empty. Only of a query; default false. */
  readonly allowEmptyValue?: boolean;
  /** Whether reserved characters are sent as they are. Only of a query; default false. */
  readonly allowReserved?: boolean;
  /** `simple` for headers, the others for queries. Default `simple`, of a query `form`. */
  readonly style?: 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'simple';
  /** Whether members are parameters of their own. Default true for `form`. */
  readonly explode?: boolean;
  /** The value as one media type, instead of `schema`. */
  readonly content?: Readonly<Record<string, ParameterValue>>;
}

/** What OpenAPI says of the value of a parameter. */
export interface ParameterValue {
  /** It follows the rules of other schemas. */
  readonly schema?: JsonSchema;
  /** A value. */
  readonly example?: unknown;
  /** Values by name, instead of `example`. */
  readonly examples?: Readonly<
    Record<string, { readonly summary?: string; readonly value: unknown }>
  >;
}

/** The cache of a route. */
export interface RouteCache {
  /** How long a response is fresh; headers of the provider can shorten it. Milliseconds, at least 1. */
  readonly ttl_ms: number;
  /**
   * How long a stale response may be served while a new one is fetched. Milliseconds; default 0.
   */
  readonly stale_ms?: number;
  /**
   * Whether responses are equal for all callers, which then share the cache. Ignored if the
   * provider receives `modgate-identity`. Default false.
   */
  readonly shared?: boolean;
}

/**
 * A JSON Schema, 2020-12. References are JSON Pointers into the same schema, or `manifest:schemas/Name` for one that
 * the manifest shares.
 */
export type JsonSchema = SchemaObject | boolean;

/** A JSON Schema that is not `true` or `false`. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** A call of a route. */
export interface RouteExample {
  /** Unique among the examples of the route. */
  readonly name: string;
  /** A request body, any JSON. */
  readonly input?: unknown;
  /** A response body of the provider, any JSON. */
  readonly output?: unknown;
}

/** The type of a field that consoles show or request. */
export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'json';

/** Records that consoles can list. */
export interface AdminEntity {
  /** Unique among the entities. */
  readonly name: string;
  /** The name for people. */
  readonly label?: string;
  /** The description of the records, in CommonMark. */
  readonly description?: string;
  /** The permission of the console bridge that lists it. */
  readonly read_capability: string;
  /** Target of the kinds that use HTTP: `GET …?limit=&cursor=`. */
  readonly list_path?: string;
  /** The columns, in order. */
  readonly fields?: readonly {
    readonly name: string;
    readonly label?: string;
    readonly type: FieldType;
    readonly nullable?: boolean;
  }[];
}

/** An action that consoles can invoke. */
export interface AdminAction {
  /** Unique among the actions. */
  readonly name: string;
  /** The name for people. */
  readonly label?: string;
  /** The description of the action, in CommonMark. */
  readonly description?: string;
  /** The permission of the console bridge that invokes it. */
  readonly capability: string;
  /** The target of `POST` for the kinds that use HTTP. */
  readonly invoke_path?: string;
  /** The danger level that the console shows. */
  readonly danger_level?: DangerLevel;
  /** The confirmation that the console requests first; the host does not enforce it. */
  readonly confirmation?: { readonly message: string; readonly required_phrase?: string };
  /** The host validates the input against it. If it is absent, any input is valid, or none. */
  readonly input_schema?: { readonly fields: readonly ActionInputField[] };
}

/** One member of an action's input. */
export interface ActionInputField {
  /** The key in the input. */
  readonly name: string;
  /** The name for people. */
  readonly label?: string;
  /** The type of its values. */
  readonly type: FieldType;
  /** Default false. */
  readonly required?: boolean;
  /** Whether the value may be `null`. Default false. */
  readonly nullable?: boolean;
}

/** The type of a config field; `min` and `max` are inclusive, default none. */
export type ConfigType =
  | { readonly kind: 'bool' }
  | { readonly kind: 'int'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'float'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'string' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'json' };

/** A value that operators can set. Delivered as `service/key`. */
export interface ConfigField {
  /** Groups keys; unique in the module together with `key`. */
  readonly service: string;
  /** The name of the field, unique within its service. */
  readonly key: string;
  /** The type of its values. */
  readonly type: ConfigType;
  /** Delivered until another value is written. */
  readonly default?: unknown;
  /** Whether the console bridge may write it. Default false. */
  readonly editable?: boolean;
  /** Whether a new value is delivered only when the module is opened again. Default false. */
  readonly restart_only?: boolean;
  /** Whether only the module gets the value. Default false. */
  readonly sensitive?: boolean;
  /** The description for people. */
  readonly description?: string;
  /** Generated once at random, as hex; the field has no default and is not editable. */
  readonly generated?: { readonly bytes: number };
}

/** A place in a console where modules may contribute. */
export interface ConsoleSlot {
  /** The target of contributions. */
  readonly id: string;
  /** Increases when the context of the slot changes; a whole number, at least 0. */
  readonly version: number;
  /** The name for people. */
  readonly label?: string;
}

/** A contribution of a module to a slot. */
export interface ConsoleContribution {
  /** The id of a slot. */
  readonly target: string;
  /** The required version of the slot; for another version the contribution is left out. Default any. */
  readonly target_version?: number;
  /** The name for people. */
  readonly label: string;
  /** The console's name of an icon. */
  readonly icon?: string;
  /** The capabilities that an actor needs to see it. Default none. */
  readonly required_capabilities?: readonly string[];
  /** The action; its input is taken from the slot's context by dotted path. */
  readonly action: {
    readonly kind: 'admin_action';
    readonly module: string;
    readonly name: string;
    readonly input_bindings?: readonly {
      readonly input: string;
      readonly value: { readonly kind: 'slot_context'; readonly path: string };
    }[];
  };
}
