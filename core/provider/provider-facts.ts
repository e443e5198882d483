import { escapeLine, type Provider, type ProviderFact } from '../contract/index.js';
import { nameError } from '../lib/name-error.js';
import { readMember } from '../lib/read-member.js';
import { type Mask, shortenMasked } from '../lib/secrets/mask-secrets.js';

const MAX_FACTS = 100;
const MAX_NAME_LENGTH = 100;
const MAX_VALUE_LENGTH = 200;

/** Reads what a provider says about itself; its texts may come from the other side. */
export function readFacts(provider: Pick<Provider, 'facts'>, mask: Mask): readonly ProviderFact[] {
  let facts: unknown;
  try {
    facts = provider.facts?.() ?? [];
  } catch (error) {
    return [{ name: 'facts', value: `cannot be read: ${nameError(error)}`, problem: true }];
  }
  if (!Array.isArray(facts)) return [];
  return facts.slice(0, MAX_FACTS).flatMap((fact: unknown): ProviderFact[] => {
    const [name, value] = [readMember(fact, 'name'), readMember(fact, 'value')];
    if (typeof name !== 'string' || typeof value !== 'string') return [];
    return [
      {
        name: show(name, MAX_NAME_LENGTH, mask),
        value: show(value, MAX_VALUE_LENGTH, mask),
        ...(readMember(fact, 'problem') === true && { problem: true }),
      },
    ];
  });
}

function show(text: string, maxLength: number, mask: Mask): string {
  return escapeLine(shortenMasked(text, maxLength, mask)).slice(0, maxLength);
}

/** Merges the facts of several workers; of facts with one name, one with a problem is kept. */
export function mergeFacts(lists: readonly (readonly ProviderFact[])[]): readonly ProviderFact[] {
  const merged = new Map<string, ProviderFact>();
  for (const fact of lists.flat()) {
    const isNew = !merged.has(fact.name);
    if (isNew || (fact.problem === true && merged.get(fact.name)?.problem !== true)) {
      merged.set(fact.name, fact);
    }
  }
  return [...merged.values()].slice(0, MAX_FACTS);
}
