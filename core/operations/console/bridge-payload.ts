/** The six variants of `payload` on the wire, discriminated by `operation`. */
export interface AdminDataListPayload {
  readonly operation: 'admin_data_list';
  readonly entity: string;
  readonly cursor?: string | null;
  readonly limit?: number;
}

export interface AdminActionInvokePayload {
  readonly operation: 'admin_action_invoke';
  readonly action: string;
  /** If absent, `{}` for an action with a schema and `null` without one. */
  readonly input?: unknown;
}

export interface ConfigValuesPayload {
  readonly operation: 'config_values';
}

export interface ConfigWritePayload {
  readonly operation: 'config_write';
  readonly key: string;
  readonly service: string;
  readonly value: unknown;
}

export interface ContributionsResolvePayload {
  readonly operation: 'contributions_resolve';
  readonly target: string;
  readonly context?: unknown;
}

export interface ModulesMetadataPayload {
  readonly operation: 'modules_metadata';
}

export interface BridgePayloads {
  readonly admin_data_list: AdminDataListPayload;
  readonly admin_action_invoke: AdminActionInvokePayload;
  readonly config_values: ConfigValuesPayload;
  readonly config_write: ConfigWritePayload;
  readonly contributions_resolve: ContributionsResolvePayload;
  readonly modules_metadata: ModulesMetadataPayload;
}

export type BridgeOperationName = keyof BridgePayloads;

export type BridgePayload = BridgePayloads[BridgeOperationName];
