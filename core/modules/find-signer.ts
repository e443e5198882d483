import type { SignerFactory } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { AdapterSource } from '../plugin-loader/adapter-source.js';

/** The signer that the config of a descriptor names; `null` without one. */
export async function findSigner(
  { configDescription }: Pick<Descriptor, 'configDescription'>,
  plugins: Pick<AdapterSource, 'signer'>,
): Promise<SignerFactory | null> {
  const { signer } = configDescription ?? {};
  return signer === undefined ? null : await plugins.signer(signer.name);
}
