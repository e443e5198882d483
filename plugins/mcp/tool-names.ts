import { createHash } from 'node:crypto';
import { RESERVED_TOOL_NAMES } from '../../core/contract/index.js';

const MAX_LENGTH = 48;
/** So many digits that no second operation with the same ones can be found. */
const HASH_LENGTH = 16;
const OTHER_CHARACTERS = /[^A-Za-z0-9_-]/g;
/** Could be the name of another operation, which anybody can compute. */
const HASHED = new RegExp(`_[0-9a-f]{${HASH_LENGTH}}$`, 'i');

interface NamedOperation {
  readonly module: string;
  readonly kind: 'route' | 'entity' | 'action';
  /** The id of a route; the name of an entity or an action. */
  readonly name: string;
  /** The whole name that the descriptor gives. */
  readonly given?: string | undefined;
}

/**
 * The names of the tools of a host, in the order of the operations. Given names are kept. Other
 * equal names all end in a hash of their operation, so that none depends on the order. So do names
 * that are too long, reserved, or look like one with a hash. If two are still equal, both are
 * `null`: neither takes the other's name.
 */
export function nameTools(
  operations: readonly NamedOperation[],
  hash: (operation: NamedOperation) => string = hashOperation,
): (string | null)[] {
  const plain = operations.map((operation) => operation.given ?? writePlainName(operation));
  const counts = countNames([...plain, ...RESERVED_TOOL_NAMES]);
  const names = operations.map((operation, index) => {
    const name = plain[index] ?? '';
    if (operation.given !== undefined) return name;
    const isFree = name.length <= MAX_LENGTH && counts.get(name) === 1 && !HASHED.test(name);
    return isFree ? name : `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash(operation)}`;
  });
  const finalCounts = countNames(names);
  return names.map((name) => (finalCounts.get(name) === 1 ? name : null));
}

function countNames(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function writePlainName({ module, kind, name }: NamedOperation): string {
  const full = `${module}_${kind === 'entity' ? `list_${name}` : name}`;
  return full.replace(OTHER_CHARACTERS, '_');
}

function hashOperation({ module, kind, name }: NamedOperation): string {
  return createHash('sha256')
    .update(JSON.stringify([module, kind, name]))
    .digest('hex')
    .slice(0, HASH_LENGTH);
}
