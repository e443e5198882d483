import type { Method } from './method.js';

/** The manifest as it stands in files and on the wire (contract 5): snake_case, `protocol: modgate.manifest.v1`. */
export interface Manifest {
  readonly protocol: 'modgate.manifest.v1';
  readonly module_id: string;
  readonly version?: string;
  readonly summary?: string;
  readonly capabilities: readonly string[];
  readonly http_routes: readonly ManifestRoute[];
  readonly admin?: {
    readonly entities?: readonly AdminEntity[];
    readonly actions?: readonly AdminAction[];
  };
  readonly config?: { readonly fields?: readonly ConfigField[]; readonly delivery_path?: string };
  readonly console_slots?: readonly ConsoleSlot[];
  readonly console_contributions?: readonly ConsoleContribution[];
}

export interface ManifestRoute {
  readonly method: Method;
  /** A template: `/contacts/{id}` (contract 1.3). */
  readonly path: string;
  /** A route without one answers 403 to everybody. */
  readonly capability?: string;
  readonly summary?: string;
  readonly operation?: RouteOperation;
}

export interface RouteOperation {
  readonly operation_id?: string;
  /** May only shorten the module's time-out. Milliseconds. */
  readonly timeout_ms?: number;
  readonly idempotency?: 'idempotent' | 'requires_key' | 'none';
  readonly input_schema?: Readonly<Record<string, unknown>> | null;
  readonly output_schema?: Readonly<Record<string, unknown>> | null;
}

export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'json';

export interface AdminEntity {
  readonly name: string;
  readonly label?: string;
  readonly read_capability: string;
  readonly list_path?: string;
  readonly fields?: readonly {
    readonly name: string;
    readonly label?: string;
    readonly type: FieldType;
    readonly nullable?: boolean;
  }[];
}

export interface AdminAction {
  readonly name: string;
  readonly label?: string;
  readonly capability: string;
  readonly invoke_path?: string;
  readonly danger_level?: 'low' | 'medium' | 'high';
  readonly confirmation?: { readonly message: string; readonly required_phrase?: string };
  readonly input_schema?: { readonly fields: readonly ActionInputField[] };
}

export interface ActionInputField {
  readonly name: string;
  readonly label?: string;
  readonly type: FieldType;
  readonly required?: boolean;
  readonly nullable?: boolean;
}

export type ConfigType =
  | { readonly kind: 'bool' }
  | { readonly kind: 'int'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'float'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'string' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'json' };

export interface ConfigField {
  readonly service: string;
  readonly key: string;
  readonly type: ConfigType;
  readonly default?: unknown;
  readonly editable?: boolean;
  readonly restart_only?: boolean;
  readonly sensitive?: boolean;
  readonly description?: string;
  /** Made once, at random, as hex; has no default and is never editable. */
  readonly generated?: { readonly bytes: number };
}

export interface ConsoleSlot {
  readonly id: string;
  readonly version: number;
  readonly label?: string;
}

export interface ConsoleContribution {
  readonly target: string;
  readonly target_version?: number;
  readonly label: string;
  readonly icon?: string;
  readonly required_capabilities?: readonly string[];
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
