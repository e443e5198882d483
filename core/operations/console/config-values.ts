import type { ConfigField } from '../../contract/index.js';
import { inject, injectable } from '../../injection.js';
import {
  isSecret,
  listConfigFields,
  listSecretNames,
  readEffective,
} from '../../modules/config-fields.js';
import type { LiveModule } from '../../modules/live-module.js';
import type { Store, StoredConfig } from '../../store/store.js';
import { STORE } from '../injection-tokens.js';
import { rethrowStoreError } from '../store-error.js';
import { type BridgeCall, type BridgeOperation, toJsonBytes } from './bridge-operation.js';
import type { BridgePayloads } from './bridge-payload.js';

type Payload = BridgePayloads['config_values'];

/** Lists all config fields of the module with their current values, in manifest order. */
@injectable()
export class ConfigValues implements BridgeOperation<Payload> {
  readonly #store: Store;

  constructor(@inject(STORE) store: Store) {
    this.#store = store;
  }

  isDeclared(_payload: Payload, call: BridgeCall): boolean {
    return isConfigDeclared(call);
  }

  async execute(_payload: Payload, { module }: BridgeCall): Promise<Buffer> {
    const fields = listConfigFields(module.manifest);
    const stored = await this.#store
      .readConfig(module.name, listSecretNames(fields))
      .catch(rethrowStoreError);
    return toJsonBytes({ data: fields.map((field) => describeField(field, module, stored)) });
  }
}

/** Whether the module has config fields and its `capabilities` include the permission. */
export function isConfigDeclared({ module, permission }: BridgeCall): boolean {
  const { manifest } = module;
  return listConfigFields(manifest).length > 0 && manifest.capabilities.includes(permission);
}

function describeField(field: ConfigField, module: LiveModule, stored: StoredConfig) {
  const effective = readEffective(field, stored);
  const redacted = isSecret(field);
  return {
    service: field.service,
    key: field.key,
    desired_value: redacted ? null : (effective ?? null),
    editable: field.editable === true,
    pending_restart: module.config.isPendingRestart(field, effective),
    redacted,
    value_type: field.type,
  };
}
