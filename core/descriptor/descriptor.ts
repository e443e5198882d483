import type { DescribedProviders } from './section.js';
import { LISTED_SECTIONS, type SectionValues, type WireDescriptor } from './sections.js';

/** A validated descriptor with its defaults. */
export interface Descriptor extends SectionValues, DescribedProviders {}

export type RateLimit = Descriptor['rate'];
export type Breaker = Descriptor['breaker'];
export type Probation = NonNullable<Descriptor['probation']>;
export type SchemaMode = Descriptor['schemas']['input'];

/** @param config the config of the provider, with the defaults of its adapter; secrets are still references */
export function createDescriptor(
  wire: WireDescriptor,
  config: unknown,
  described: DescribedProviders,
): Descriptor {
  const { apiVersion: _, provider, ...members } = wire;
  const completed = LISTED_SECTIONS.flatMap(([name, section]) => {
    if (wire[name] === undefined || section.complete === undefined) return [];
    return [[name, section.complete(wire[name], wire)]];
  });
  return {
    provider: { kind: provider.kind, config },
    ...members,
    ...(Object.fromEntries(completed) as Omit<SectionValues, 'provider'>),
    ...described,
  };
}
