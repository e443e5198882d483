import type { AnyStruct } from '../contract/described.js';
import { readMember } from '../lib/read-member.js';
import type { DescriptorAdapter } from './descriptor.js';

/** The part of a SignerFactory that the validation of a descriptor needs. */
export interface DescriptorSigner {
  readonly config: AnyStruct;
}

export const SIGNER_PATH = ['provider', 'config', 'auth', 'signer'] as const;
export const SIGNER_CONFIG_PATH = ['provider', 'config', 'auth', 'config'] as const;

/** The signer that the config of a provider names, and its own config; `null` without one. */
export function readSigner(
  config: unknown,
  { supports }: Pick<DescriptorAdapter, 'supports'>,
): { readonly name: string; readonly config: unknown } | null {
  if (supports.signers !== true) return null;
  const auth = readMember(config, 'auth');
  const name = readMember(auth, 'signer');
  if (typeof name !== 'string' || name === '') return null;
  return { name, config: readMember(auth, 'config') ?? {} };
}
