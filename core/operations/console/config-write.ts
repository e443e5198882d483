import type { ConfigField } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { explainMismatch } from '../../manifest/config-rules.js';
import { writesConfig } from '../../manifest/list-opened.js';
import { fieldName, isSecret, listConfigFields } from '../../modules/config-fields.js';
import { ConfigConflict } from '../../store/config-values.js';
import type { Store } from '../../store/store.js';
import { STORE } from '../injection-tokens.js';
import { rethrowStoreError } from '../store-error.js';
import { createAuditDraft } from './audit-draft.js';
import type { BridgeCall, BridgeOperation } from './bridge-operation.js';
import type { BridgePayloads } from './bridge-payload.js';

type Payload = BridgePayloads['config_write'];

/** Writes one value and its audit row. Replies when both are durable; delivery to the module follows. */
@injectable(STORE)
export class ConfigWrite implements BridgeOperation<Payload> {
  readonly name = 'config_write';
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  isDeclared(payload: Payload, call: BridgeCall): boolean {
    if (!writesConfig(call.permission, call.module.manifest)) return false;
    const field = findField(payload, call);
    return field?.editable === true && field.generated === undefined;
  }

  async execute(payload: Payload, call: BridgeCall): Promise<Buffer> {
    const field = findField(payload, call);
    if (field === null) throw new Error('a declared field was not found');
    const { service, key, value, revision: expected } = payload;
    const address = { module: call.module.name, service, key };
    const { config, audit: rows } = this.#store;
    const audit = createAuditDraft(call, 'config_write', fieldName(field));
    const fail = async (error: HostError) => {
      const append = async () => {
        const sensitive = isSecret(field) || (await config.isGenerated(address));
        const audited = { json: JSON.stringify(value), sensitive };
        await rows.append({ ...audit, outcome: 'failed', value: audited });
      };
      await append().catch(rethrowStoreError);
      throw error;
    };
    const problem = explainMismatch(value, field.type) ?? findUnrepresentable(value);
    if (problem !== null) return fail(createValueError(field, problem));
    const write = { ...address, value, sensitive: isSecret(field), expected };
    const stored = await config.write(write, audit).catch((error: unknown) => {
      if (error instanceof ConfigConflict) return null;
      return rethrowStoreError(error);
    });
    if (stored === null) return fail(createConflict(field));
    const { json, sensitive } = stored;
    const opening = JSON.stringify({ service, key }).slice(0, -1);
    return Buffer.from(`${opening},"value":${sensitive ? 'null' : json}}`);
  }
}

function findField({ service, key }: Payload, { module }: BridgeCall): ConfigField | null {
  const fields = listConfigFields(module.manifest);
  return fields.find((field) => field.service === service && field.key === key) ?? null;
}

function createConflict(field: ConfigField): HostError {
  const name = fieldName(field);
  return new HostError('conflict', `the value of ${name} has changed since it was read`, {
    errors: [{ field: name, reason: 'another revision' }],
    nextActions: ['read config_values again, and write with its revision'],
  });
}

function createValueError(field: ConfigField, expected: string): HostError {
  const name = fieldName(field);
  return new HostError('validation_failed', `the value of ${name} does not match its type`, {
    errors: [{ field: 'payload.value', reason: `${name} must be ${expected}` }],
  });
}

/**
 * The requirement for lossless storage that a JSON value violates; `null` for none. JSON allows
 * lone surrogates, which have no canonical form, and numbers beyond the range of a double, which
 * would become `null`.
 */
function findUnrepresentable(value: unknown): string | null {
  if (typeof value === 'string')
    return value.isWellFormed() ? null : 'text without lone surrogates';
  if (typeof value === 'number')
    return Number.isFinite(value) ? null : 'within the range of a double';
  if (typeof value !== 'object' || value === null) return null;
  for (const name of Object.keys(value)) {
    const member: unknown = Reflect.get(value, name);
    const expected = findUnrepresentable(name) ?? findUnrepresentable(member);
    if (expected !== null) return expected;
  }
  return null;
}
