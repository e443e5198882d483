import { define, type Infer, literal, nullable, object, optional, string } from 'superstruct';

const wholeNumber = define<number>('a whole number', Number.isInteger);
// Every JSON value, including `null`; only an absent member is invalid.
const anyJson = define<unknown>('a JSON value', (value) => value !== undefined);

/** The six variants of `payload` on the wire, discriminated by `operation`. */
export const PAYLOADS = {
  admin_data_list: object({
    operation: literal('admin_data_list'),
    entity: string(),
    cursor: optional(nullable(string())),
    limit: optional(wholeNumber),
  }),
  admin_action_invoke: object({
    operation: literal('admin_action_invoke'),
    action: string(),
    /** If absent, `{}` for an action with a schema and `null` without one. */
    input: optional(anyJson),
  }),
  config_values: object({ operation: literal('config_values') }),
  config_write: object({
    operation: literal('config_write'),
    key: string(),
    service: string(),
    value: anyJson,
    /** The revision of the value that is replaced, as `config_values` has it. */
    revision: optional(wholeNumber),
  }),
  contributions_resolve: object({
    operation: literal('contributions_resolve'),
    target: string(),
    context: optional(anyJson),
  }),
  modules_metadata: object({ operation: literal('modules_metadata') }),
};

export type BridgeOperationName = keyof typeof PAYLOADS;

export type BridgePayloads = {
  readonly [Name in BridgeOperationName]: Readonly<Infer<(typeof PAYLOADS)[Name]>>;
};

export type BridgePayload = BridgePayloads[BridgeOperationName];
