import { createHash } from 'node:crypto';

/** The names of the three tools of a host that offers its tools by search. */
export const META_NAMES = ['search_tools', 'describe_tool', 'call_tool'] as const;

const MAX_LENGTH = 48;
const HASH_LENGTH = 8;
const OTHER_CHARACTERS = /[^A-Za-z0-9_-]/g;

/** An operation that needs a tool name. */
interface NamedOperation {
  readonly module: string;
  readonly kind: 'route' | 'entity' | 'action';
  /** The id of a route; the name of an entity or an action. */
  readonly name: string;
}

/**
 * The names of the tools of a host, in the order of the operations. Equal names all end in a hash
 * of their operation, so that none depends on the order; so do names that are too long or reserved.
 */
export function nameTools(operations: readonly NamedOperation[]): string[] {
  const plain = operations.map(writePlainName);
  const counts = new Map<string, number>();
  for (const name of [...plain, ...META_NAMES]) counts.set(name, (counts.get(name) ?? 0) + 1);
  return operations.map((operation, index) => {
    const name = plain[index] ?? '';
    const isFree = name.length <= MAX_LENGTH && counts.get(name) === 1;
    return isFree ? name : addHash(name, operation);
  });
}

function writePlainName({ module, kind, name }: NamedOperation): string {
  const full = `${module}_${kind === 'entity' ? `list_${name}` : name}`;
  return full.replace(OTHER_CHARACTERS, '_');
}

function addHash(name: string, { module, kind, name: full }: NamedOperation): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([module, kind, full]))
    .digest('hex');
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash.slice(0, HASH_LENGTH)}`;
}
