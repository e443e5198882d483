/** A path of a manifest, and the fields of its parameters. */
export interface ConvertedTemplate {
  readonly path: string;
  /** `bind` of the operation. */
  readonly bind: Readonly<Record<string, string>>;
  /** The paths of the fields that the path sets. */
  readonly fields: readonly string[];
}

const VARIABLE = /^\{([A-Za-z_][\w.]*)(?:=([^{}]*))?\}/;
const LITERAL = /^[A-Za-z0-9._~!$&'()+,;=@%-]+/;
const VERB = /:([A-Za-z0-9._~-]+)$/;

/**
 * Converts a path of `google.api.http`: `/v1/{name=shelves/{*}/books/{*}}` has parameters `shelves` and `books`, of
 * which `name` is composed.
 * @returns a reason for a path that no route can have
 */
export function convertTemplate(template: string): ConvertedTemplate | { readonly reason: string } {
  const [, verb = null] = VERB.exec(template) ?? [];
  let rest = verb === null ? template : template.slice(0, -verb.length - 1);
  const names = new Set<string>();
  const bind: Record<string, string> = {};
  const fields: string[] = [];
  const parts: string[] = [];
  while (rest !== '') {
    if (!rest.startsWith('/')) return { reason: 'its path is not a template' };
    rest = rest.slice(1);
    const [variable, field = '', pattern = '*'] = VARIABLE.exec(rest) ?? [];
    const [literal] = LITERAL.exec(rest) ?? [];
    if (variable !== undefined) {
      const segments = nameSegments(field, pattern, names);
      const [only = ''] = segments;
      // `bind` would read it as the name of a field.
      if (segments.length === 1 && !only.startsWith('{')) {
        return { reason: 'a variable without a wildcard is not carried' };
      }
      fields.push(field);
      const last = field.split('.').at(-1) ?? field;
      if (segments.length > 1) bind[field] = segments.join('/').replaceAll('...', '');
      else if (segments[0] !== `{${field}}` && segments[0] !== `{${field}...}`) {
        bind[segments[0]?.replaceAll(/[{}]|\.\.\./g, '') ?? last] = field;
      }
      parts.push(...segments);
      rest = rest.slice(variable.length);
    } else if (literal !== undefined) {
      parts.push(literal);
      rest = rest.slice(literal.length);
    } else return { reason: 'a wildcard without a field is not carried' };
  }
  const restAt = parts.findIndex((part) => part.endsWith('...}'));
  if (restAt !== -1 && restAt < parts.length - 1)
    return { reason: "'**' before the end is not carried" };
  if (restAt !== -1 && verb !== null) return { reason: "a verb after '**' is not carried" };
  return { path: `/${parts.join('/')}${verb === null ? '' : `:${verb}`}`, bind, fields };
}

/** The segments of a variable; each wildcard gets the name of the literal before it, a single one that of the field. */
function nameSegments(field: string, pattern: string, names: Set<string>): string[] {
  const segments = pattern.split('/');
  const last = field.split('.').at(-1) ?? field;
  return segments.map((segment, index) => {
    if (segment !== '*' && segment !== '**') return segment;
    const before = segments[index - 1];
    const isNamed = before !== undefined && /^[A-Za-z0-9_-]+$/.test(before);
    const name = findFree(isNamed ? before : last, names);
    return segment === '*' ? `{${name}}` : `{${name}...}`;
  });
}

function findFree(name: string, names: Set<string>): string {
  let free = name;
  for (let count = 2; names.has(free); count += 1) free = `${name}_${count}`;
  names.add(free);
  return free;
}
