import type { Method } from './method.js';

/**
 * The manifest as it stands in files and on the wire (contract 5): snake_case, `protocol:
 * modgate.manifest.v1`.
 */
export interface Manifest {
  /** The version of the manifest's format. */
  readonly protocol: 'modgate.manifest.v1';
  /** The author's name for the module, such as `acme/crm`; what ops mount it as is their own. */
  readonly module_id: string;
  /** The author's; shown, not interpreted. */
  readonly version?: string;
  /** One line for people. */
  readonly summary?: string;
  /** Every capability that a route, an entity, an action or a contribution names. */
  readonly capabilities: readonly string[];
  /** May be empty. Their order says nothing (contract 1.3). */
  readonly http_routes: readonly ManifestRoute[];
  /** What consoles can show and do. */
  readonly admin?: {
    readonly entities?: readonly AdminEntity[];
    readonly actions?: readonly AdminAction[];
  };
  /** What ops can set; delivered to `delivery_path` as {@link ConfigField}s have it. */
  readonly config?: { readonly fields?: readonly ConfigField[]; readonly delivery_path?: string };
  /** Places in the module's own pages where others may contribute. */
  readonly console_slots?: readonly ConsoleSlot[];
  /** What the module adds to the slots of others. */
  readonly console_contributions?: readonly ConsoleContribution[];
}

/** A route that callers reach at `/modules/{module}/http{path}`. */
export interface ManifestRoute {
  /** Upper case; HEAD is served by GET. */
  readonly method: Method;
  /** A template: `/contacts/{id}` (contract 1.3). */
  readonly path: string;
  /** A route without one answers 403 to everybody. */
  readonly capability?: string;
  /** One line for people. */
  readonly summary?: string;
  /** How the host is to treat a call. */
  readonly operation?: RouteOperation;
}

/** What the author says of a route's calls. */
export interface RouteOperation {
  /** For tools; not interpreted. */
  readonly operation_id?: string;
  /** May only shorten the module's time-out. Milliseconds, at least 1; default the module's. */
  readonly timeout_ms?: number;
  /** Whether a call that failed may be repeated (contract 9): always, with the caller's key, never. */
  readonly idempotency?: 'idempotent' | 'requires_key' | 'none';
  /** For tools; bodies are not judged by it. */
  readonly input_schema?: Readonly<Record<string, unknown>> | null;
  /** For tools; answers are not judged by it. */
  readonly output_schema?: Readonly<Record<string, unknown>> | null;
}

/** The type of a field that consoles show or ask for. */
export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'json';

/** Records that consoles can list. */
export interface AdminEntity {
  /** Unique among the entities. */
  readonly name: string;
  /** For people. */
  readonly label?: string;
  /** The permission of the console bridge that lists it. */
  readonly read_capability: string;
  /** Where the http kinds ask: `GET …?limit=&cursor=`. */
  readonly list_path?: string;
  /** The columns, in order. */
  readonly fields?: readonly {
    readonly name: string;
    readonly label?: string;
    readonly type: FieldType;
    readonly nullable?: boolean;
  }[];
}

/** Something that consoles can do. */
export interface AdminAction {
  /** Unique among the actions. */
  readonly name: string;
  /** For people. */
  readonly label?: string;
  /** The permission of the console bridge that invokes it. */
  readonly capability: string;
  /** Where the http kinds ask: `POST` with the input. */
  readonly invoke_path?: string;
  /** For the console. */
  readonly danger_level?: 'low' | 'medium' | 'high';
  /** What the console asks first; the host does not enforce it (contract 4). */
  readonly confirmation?: { readonly message: string; readonly required_phrase?: string };
  /** The host judges the input by it. Absent: any input, also none. */
  readonly input_schema?: { readonly fields: readonly ActionInputField[] };
}

/** One member of an action's input. */
export interface ActionInputField {
  /** The key in the input. */
  readonly name: string;
  /** For people. */
  readonly label?: string;
  /** What values it takes. */
  readonly type: FieldType;
  /** Default false. */
  readonly required?: boolean;
  /** Whether `null` is a value. Default false. */
  readonly nullable?: boolean;
}

/** What values a config field takes; `min` and `max` are inclusive, default none. */
export type ConfigType =
  | { readonly kind: 'bool' }
  | { readonly kind: 'int'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'float'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'string' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'json' };

/** Something that ops can set. Delivered under `service/key`. */
export interface ConfigField {
  /** Groups keys; with `key` unique in the module. */
  readonly service: string;
  /** Within its service. */
  readonly key: string;
  /** What values it takes. */
  readonly type: ConfigType;
  /** Delivered until somebody writes another. */
  readonly default?: unknown;
  /** Whether the console bridge may write it. Default false. */
  readonly editable?: boolean;
  /** Whether a new value waits until the module is opened anew. Default false. */
  readonly restart_only?: boolean;
  /** Whether the value is kept from everybody but the module. Default false. */
  readonly sensitive?: boolean;
  /** For people. */
  readonly description?: string;
  /** Made once, at random, as hex; has no default and is never editable. */
  readonly generated?: { readonly bytes: number };
}

/** A place in a console where modules may contribute. */
export interface ConsoleSlot {
  /** What contributions name as their target. */
  readonly id: string;
  /** Grows when what the slot hands over changes; a whole number, at least 0. */
  readonly version: number;
  /** For people. */
  readonly label?: string;
}

/** What a module adds to a slot (contract 4, `contributions_resolve`). */
export interface ConsoleContribution {
  /** The id of a slot. */
  readonly target: string;
  /** The slot's version; one that differs from a live slot is left out. Default any. */
  readonly target_version?: number;
  /** For people. */
  readonly label: string;
  /** The console's name for it. */
  readonly icon?: string;
  /** What the actor must hold to see it. Default nothing. */
  readonly required_capabilities?: readonly string[];
  /** What it does, its input bound from the slot's context by dotted path. */
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
