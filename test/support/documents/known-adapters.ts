import { object } from 'superstruct';
import type { DescriptorAdapter } from '../../../core/descriptor/section.js';
import type { DescriptorAdapters } from '../../../core/descriptor/sections/provider.js';
import { httpConfig, httpTransport, unixConfig } from '../../../plugins/http/config.js';
import { localConfig } from '../../../plugins/local/local-adapter.js';
import { natsConfig } from '../../../plugins/nats/config.js';
import { processConfig } from '../../../plugins/process/config.js';

const KNOWN: readonly DescriptorAdapter[] = [
  {
    kind: 'http',
    config: httpConfig,
    supports: { manifest: true },
    describeConfig: httpTransport.describe as NonNullable<DescriptorAdapter['describeConfig']>,
  },
  { kind: 'unix', config: unixConfig, supports: { manifest: true } },
  { kind: 'local', config: localConfig, supports: { manifest: true } },
  { kind: 'process', config: processConfig, supports: { manifest: true } },
  { kind: 'nats', config: natsConfig, supports: { manifest: true } },
  { kind: 'mute', config: object({}), supports: {} },
];

export function createAdapters(adapters: readonly DescriptorAdapter[]): DescriptorAdapters {
  return {
    kinds: () => adapters.map(({ kind }) => kind),
    adapter: async (kind) => {
      const adapter = adapters.find((entry) => entry.kind === kind);
      if (adapter === undefined) throw new Error('no plugin provides this kind');
      return adapter;
    },
    signers: () => [],
    signer: async () => {
      throw new Error('no plugin has that signer');
    },
  };
}

/** The adapters of the repository, and `mute`, which has no config and no manifest. */
export const knownAdapters = createAdapters(KNOWN);
