import type { ConfigField } from '../../contract/index.js';
import { injectable } from '../../injection.js';
import { readsConfig } from '../../manifest/list-opened.js';
import {
  fieldName,
  isSecret,
  listConfigFields,
  listSecretNames,
  readEffective,
} from '../../modules/config-fields.js';
import type { LiveModule } from '../../modules/live-module.js';
import type { StoredConfig } from '../../store/config-values.js';
import type { Store } from '../../store/store.js';
import { STORE } from '../injection-tokens.js';
import { rethrowStoreError } from '../store-error.js';
import { type BridgeCall, type BridgeOperation, toJsonBytes } from './bridge-operation.js';
import type { BridgePayloads } from './bridge-payload.js';

type Payload = BridgePayloads['config_values'];

/** Lists all config fields of the module with their current values, in manifest order. */
@injectable(STORE)
export class ConfigValues implements BridgeOperation<Payload> {
  readonly name = 'config_values';
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  isDeclared(_payload: Payload, { module, permission }: BridgeCall): boolean {
    return readsConfig(permission, module.manifest);
  }

  async execute(_payload: Payload, { module }: BridgeCall): Promise<Buffer> {
    const fields = listConfigFields(module.manifest);
    const stored = await this.#store.config
      .read(module.name, listSecretNames(fields))
      .catch(rethrowStoreError);
    return toJsonBytes({ data: fields.map((field) => describeField(field, module, stored)) });
  }
}

function describeField(field: ConfigField, module: LiveModule, stored: StoredConfig) {
  const effective = readEffective(field, stored);
  // A manifest of today does not show what an earlier one kept secret.
  const redacted = isSecret(field) || stored.secrets.has(fieldName(field));
  return {
    service: field.service,
    key: field.key,
    desired_value: redacted ? null : (effective ?? null),
    editable: field.editable === true,
    pending_restart: module.config.isPendingRestart(field, effective),
    redacted,
    revision: stored.revisions.get(fieldName(field)) ?? 0,
    value_type: field.type,
  };
}
