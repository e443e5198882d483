import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { AuditDraft } from '../../core/store/audit-row.js';
import type { ConfigWrite } from '../../core/store/config-values.js';
import type { Store } from '../../core/store/store.js';
import type { StoreUnavailable } from '../../core/store/store-unavailable.js';

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
  return store.config.write(createWrite(key, value, overrides), DRAFT);
}

export async function readValue(store: Store, name: string, module = 'crm'): Promise<unknown> {
  return (await store.config.read(module)).values.get(name);
}

export function createReleaseDraft(id: string, base: string | null, parts: readonly string[]) {
  const author = { author_kind: 'service', author_id: 'publisher' } as const;
  return { id, base, ...author, note: '', least_version: '0.1.0', files: 1, bytes: 1, parts };
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
