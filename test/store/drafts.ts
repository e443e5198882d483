import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { AuditDraft, ConfigWrite, Store, StoreUnavailable } from '../../core/store/store.js';

export const DRAFT: AuditDraft = {
  actor: { kind: 'user', id: 'ada' },
  module: 'crm',
  permission: 'crm.config',
  operation: 'config_write',
  target: 'crm/page_size',
  outcome: 'ok',
  requestId: 'req_1',
  correlationId: 'corr_1',
  value: null,
};

export function createWrite(key: string, value: unknown, overrides: Partial<ConfigWrite> = {}) {
  return { module: 'crm', service: 'crm', key, value, sensitive: false, ...overrides };
}

export function write(
  store: Store,
  key: string,
  value: unknown,
  overrides: Partial<ConfigWrite> = {},
) {
  return store.writeConfig(createWrite(key, value, overrides), DRAFT);
}

export async function readValue(store: Store, name: string, module = 'crm'): Promise<unknown> {
  return (await store.readConfig(module)).values.get(name)?.value;
}

export function createKey(): string {
  return randomBytes(32).toString('hex');
}

/** @throws when the work does not fail with that code. */
export async function expectUnavailable(
  work: Promise<unknown>,
  code: StoreUnavailable['code'],
): Promise<Error> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason as StoreUnavailable,
  );
  expect(error).to.be.an('error').with.property('name', 'StoreUnavailable');
  expect(error).to.have.property('code', code);
  return error as Error;
}
