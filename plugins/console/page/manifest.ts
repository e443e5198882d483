import type { ConfigType } from './module/config-control.js';

type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'json';

export interface Field {
  readonly name: string;
  readonly label?: string;
  readonly type: FieldType;
  readonly required?: boolean;
  readonly nullable?: boolean;
}

export interface Entity {
  readonly name: string;
  readonly label?: string;
  readonly description?: string;
  readonly read_capability: string;
  readonly fields?: readonly Field[];
}

export interface Action {
  readonly name: string;
  readonly label?: string;
  readonly description?: string;
  readonly capability: string;
  readonly danger_level?: 'low' | 'medium' | 'high';
  readonly confirmation?: { readonly message: string; readonly required_phrase?: string };
  readonly input_schema?: { readonly fields: readonly Field[] };
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly capability?: string;
  readonly access?: 'public';
  readonly summary?: string;
  readonly deprecated?: boolean;
  readonly operation?: {
    readonly body?: string;
    readonly response?: string;
    readonly stream?: string;
  };
}

export interface ConfigField {
  readonly service: string;
  readonly key: string;
  readonly type: ConfigType;
  readonly description?: string;
  readonly editable?: boolean;
  readonly restart_only?: boolean;
}

/** The parts of a manifest that the pages use. */
export interface Manifest {
  readonly module_id: string;
  readonly version?: string;
  readonly summary?: string;
  readonly capabilities: readonly string[];
  readonly http_routes: readonly Route[];
  readonly admin?: { readonly entities?: readonly Entity[]; readonly actions?: readonly Action[] };
  readonly config?: {
    readonly read_capability?: string;
    readonly write_capability?: string;
    readonly fields?: readonly ConfigField[];
  };
}

/** An entry of `GET /manifests`. */
export interface NamedManifest {
  readonly name: string;
  readonly digest: string;
  readonly manifest: Manifest;
}
