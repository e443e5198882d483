import { unknown } from 'superstruct';
import { described, withDefault } from '../../contract/described.js';
import type { ConfigDescription, NamedSigner } from '../../contract/index.js';
import type { Violation } from '../../document/diagnostic.js';
import { validateConfig } from '../../document/find-references.js';
import { nonEmptyText } from '../../document/structs.js';
import { findNearestName } from '../../document/suggest.js';
import { validateStruct } from '../../document/validate.js';
import { readMember } from '../../lib/read-member.js';
import { toDescriptorPath } from '../config-path.js';
import { readDescription } from '../read-description.js';
import { type DescriptorAdapter, type DescriptorSigner, defineSection } from '../section.js';
import { mapping } from '../struct-members.js';

const members = mapping('provider', 'Where the calls of the module go.', {
  kind: described(nonEmptyText(), {
    description:
      'How the provider is reached: http, unix, local, process, or another kind of a plugin.',
  }),
  config: withDefault(
    unknown(),
    {},
    {
      description: 'Configuration for the adapter of this kind.',
    },
  ),
});

const CONFIG = ['provider', 'config'] as const;

export const provider = defineSection({ struct: members });

/** Adapters by kind, imported when a descriptor first needs one. */
export interface DescriptorAdapters {
  kinds(): readonly string[];
  /** @throws an Error whose message may be shown when the adapter cannot be loaded. */
  adapter(kind: string): Promise<DescriptorAdapter>;
  signers(): readonly string[];
  /** @throws an Error whose message may be shown when the signer cannot be loaded. */
  signer(name: string): Promise<DescriptorSigner>;
}

interface ReadProvider {
  /** `null` for an unknown kind. */
  readonly adapter: DescriptorAdapter | null;
  /** The config as written; parts of it may be invalid. */
  readonly written: unknown;
  /** The config with the defaults of the adapter's struct. */
  readonly config: unknown;
  /** What the adapter says of the config; `null` for an invalid one. */
  readonly description: ConfigDescription | null;
  /** The signer that the config names; `null` for none, and for an unknown one. */
  readonly signer: (NamedSigner & { readonly factory: DescriptorSigner }) | null;
  readonly violations: readonly Violation[];
}

/** Reads the provider of a descriptor, also of one with other errors, by the rules of its adapter. */
export async function readProvider(
  descriptor: unknown,
  adapters: DescriptorAdapters,
): Promise<ReadProvider> {
  const provider = readMember(descriptor, 'provider');
  const written = readMember(provider, 'config') ?? {};
  const { adapter, violations } = await findAdapter(readMember(provider, 'kind'), adapters);
  const rejected = { adapter, written, config: null, description: null, signer: null, violations };
  if (adapter === null) return rejected;
  const checked = validateConfig(written, adapter.config, CONFIG);
  if (checked.violations.length > 0) return { ...rejected, violations: checked.violations };
  const description = readDescription(adapter, checked.value, CONFIG);
  const named = description.value?.signer ?? null;
  const signing = named === null ? null : await findSigner(named, adapters);
  return {
    adapter,
    written,
    config: checked.value,
    description: description.value,
    signer: named && signing?.signer ? { ...named, factory: signing.signer } : null,
    violations: [...description.violations, ...(signing?.violations ?? [])],
  };
}

async function findAdapter(
  kind: unknown,
  adapters: DescriptorAdapters,
): Promise<Pick<ReadProvider, 'adapter' | 'violations'>> {
  if (typeof kind !== 'string' || kind === '') return { adapter: null, violations: [] };
  const path = ['provider', 'kind'];
  const reject = (rule: string, message: string, hint: string | null) => {
    const violation = { rule, message, hint, path, at: 'value' } as const;
    return { adapter: null, violations: [violation] };
  };
  const kinds = adapters.kinds().toSorted();
  if (!kinds.includes(kind)) {
    const expected = kinds.length === 0 ? 'a kind of a plugin' : `one of ${kinds.join(', ')}`;
    const nearest = findNearestName(kind, kinds);
    const hint = nearest === null ? null : `did you mean '${nearest}'?`;
    return reject('unknown-kind', `'provider.kind' must be ${expected}`, hint);
  }
  try {
    return { adapter: await adapters.adapter(kind), violations: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'the adapter cannot be loaded';
    return reject('plugin-failed', message, null);
  }
}

/** The signer that the config names, and the violations of its own config. */
async function findSigner(
  { name, path: ofName, config, configPath }: NamedSigner,
  adapters: DescriptorAdapters,
): Promise<{ signer: DescriptorSigner | null; violations: readonly Violation[] }> {
  const path = toDescriptorPath(ofName);
  const reject = (rule: string, message: string, hint: string | null) => {
    const violation = { rule, message, hint, path, at: 'value' } as const;
    return { signer: null, violations: [violation] };
  };
  const names = adapters.signers().toSorted();
  if (!names.includes(name)) {
    const expected = names.length === 0 ? 'a signer of a plugin' : `one of ${names.join(', ')}`;
    const nearest = findNearestName(name, names);
    const hint = nearest === null ? 'install its plugin' : `did you mean '${nearest}'?`;
    return reject('unknown-signer', `'${path.join('.')}' must be ${expected}`, hint);
  }
  try {
    const signer = await adapters.signer(name);
    const { violations } = validateStruct(config, signer.config, toDescriptorPath(configPath));
    return { signer, violations };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'the signer cannot be loaded';
    return reject('plugin-failed', message, null);
  }
}
