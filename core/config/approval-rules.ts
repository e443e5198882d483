import { boolean, object } from 'superstruct';
import { optionally } from '../contract/described.js';
import type { SettingKind } from './setting-kind.js';

/** The rules of who may decide about requests for approval. */
export interface ApprovalRules {
  /** Whether users may decide about their own requests. */
  readonly self: boolean;
}

const mapping = object({ self: optionally(boolean(), {}) });

/** The word `self`; in a configuration file a mapping. */
export const approvalRules: SettingKind<ApprovalRules> = {
  placeholder: 'rules',
  expected: 'self, or in a file a mapping such as {self: true}',
  fileType: 'string',
  struct: mapping,
  parse: (text) => (text === 'self' ? { self: true } : undefined),
  parseValue: (value) => (mapping.is(value) ? { self: value.self ?? false } : undefined),
};
