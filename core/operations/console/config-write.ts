import { injectable } from 'tsyringe';
import type { ConfigField } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import { inject, STORE } from '../../injection.js';
import { explainMismatch } from '../../manifest/config-rules.js';
import { fieldName, isSecret, listConfigFields } from '../../modules/config-fields.js';
import type { Store } from '../../store/store.js';
import { refuseWithoutStore } from '../store-error.js';
import { createAuditDraft } from './audit-draft.js';
import type { BridgeCall, BridgeOperation } from './bridge-operation.js';
import type { ConfigWritePayload } from './bridge-payload.js';
import { isConfigDeclared } from './config-values.js';
import { explainLoss } from './explain-loss.js';
import { toJsonBytes } from './json-bytes.js';

/** Writes one value. Answers when it is durable, with its audit row; delivery to the module follows. */
@injectable()
export class ConfigWrite implements BridgeOperation<ConfigWritePayload> {
  readonly #store: Store;

  constructor(@inject(STORE) store: Store) {
    this.#store = store;
  }

  isDeclared(payload: ConfigWritePayload, call: BridgeCall): boolean {
    const field = findField(payload, call);
    return isConfigDeclared(call) && field?.editable === true && field.generated === undefined;
  }

  async execute(payload: ConfigWritePayload, call: BridgeCall): Promise<Buffer> {
    const field = findField(payload, call);
    if (field === null) throw new Error('a field that is declared was not found');
    const { service, key, value } = payload;
    const sensitive = isSecret(field);
    const audit = createAuditDraft(call, 'config_write', fieldName(field));
    const expected = explainMismatch(value, field.type) ?? explainLoss(value);
    if (expected !== null) {
      await this.#store
        .appendAudit({ ...audit, outcome: 'failed', value: { json: value, sensitive } })
        .catch(refuseWithoutStore);
      throw refuseValue(field, expected);
    }
    await this.#store
      .writeConfig({ module: call.module.name, service, key, value, sensitive }, audit)
      .catch(refuseWithoutStore);
    return toJsonBytes({ service, key, value: sensitive ? null : value });
  }
}

function findField(
  { service, key }: ConfigWritePayload,
  { module }: BridgeCall,
): ConfigField | null {
  const fields = listConfigFields(module.manifest);
  return fields.find((field) => field.service === service && field.key === key) ?? null;
}

function refuseValue(field: ConfigField, expected: string): HostError {
  const name = fieldName(field);
  return new HostError('validation_failed', `the value of ${name} does not fit its type`, {
    errors: [{ field: 'payload.value', reason: `${name} must be ${expected}` }],
  });
}
