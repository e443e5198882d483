import type { Infer } from 'superstruct';
import { optionally } from '../../contract/described.js';
import { shortText } from '../../document/structs.js';
import { ANY_CHANGE, defineSection, type ReadonlyDeep } from '../section.js';
import { mapping } from '../struct-members.js';

const text = shortText(200);

const members = mapping('owner', 'Who answers for the module.', {
  name: optionally(text, { description: 'A person or a team.' }),
  contact: optionally(text, {
    description: 'How to reach them; shown as a link if it is https: or mailto:.',
  }),
  docs: optionally(text, {
    description: 'Where the module is described; shown as a link if it is https: or mailto:.',
  }),
});

export type Owner = ReadonlyDeep<Infer<typeof members>>;

export const owner = defineSection({
  struct: optionally(members, {}),
  shown: { of: 'file', read: (value) => value },
  isFreeChange: ANY_CHANGE,
});

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
