import type { Descriptor } from './descriptor.js';

export type Owner = NonNullable<Descriptor['owner']>;

/** `Team CRM, crm@team.example`; `null` without a name. */
export function describeOwner(owner: Owner = {}): string | null {
  const { name, contact, docs } = owner;
  return [name, contact, docs].filter((text) => text !== undefined).join(', ') || null;
}

/** The address of a page about the module; `null` if `docs` is only text. */
export function readDocsUrl({ docs = '' }: Owner = {}): string | null {
  if (!URL.canParse(docs)) return null;
  const { protocol, href } = new URL(docs);
  return protocol === 'https:' ? href : null;
}
