import { dirname, join, relative } from 'node:path';

const STATEMENT = /^(import|export) (?:type )?(\*|\{[^}]*\}) from ['"]([^'"]+)['"];\n/gm;
const EMPTY = /^export \{\};\n/gm;
const EXPORTED = /^export (?=(?:declare |abstract |interface |type ))/gm;
const DECLARED =
  /^(export )?(?:declare )?(?:abstract )?(?:class|const|function|interface|type) (\w+)/gm;

/**
 * Joins the declarations of a file with those of all files that it imports, as one text.
 * @param {string} entry the path of a `.d.ts`
 * @param {(path: string) => string} read
 * @param {(path: string) => string | null} findShared the file that is imported instead of one
 * @throws an error if two files declare one name
 */
export function bundleTypes(entry, read, findShared) {
  const imports = new Map();
  const bodies = new Map();
  const exports = new Set();

  const addImport = (from, names) => {
    const known = imports.get(from) ?? new Set();
    for (const name of names) known.add(name);
    imports.set(from, known);
  };
  const add = (path, isPublic) => {
    const text = read(path);
    if (isPublic) for (const [, own, name] of text.matchAll(DECLARED)) if (own) exports.add(name);
    if (bodies.has(path)) return;
    bodies.set(path, text.replace(STATEMENT, '').replace(EMPTY, '').replace(EXPORTED, ''));
    for (const [, word, list, from] of text.matchAll(STATEMENT)) {
      const names = list === '*' ? [] : listNames(list);
      if (word === 'export') for (const name of names) exports.add(name);
      if (!from.startsWith('.')) {
        addImport(from, names);
        continue;
      }
      const file = join(dirname(path), from.replace(/\.js$/, '.d.ts'));
      const shared = findShared(file);
      if (shared === null) add(file, list === '*');
      else addImport(relative(dirname(entry), shared).replace(/\.d\.ts$/, '.js'), names);
    }
  };
  add(entry, true);
  assertOnce([...bodies.values()]);
  const lines = [...imports].map(
    ([from, names]) => `import type { ${[...names].join(', ')} } from '${from}';\n`,
  );
  return [...lines, ...bodies.values(), `export { ${[...exports].join(', ')} };\n`].join('');
}

function listNames(list) {
  const names = list.slice(1, -1).split(',');
  return names.map((name) => name.trim().replace(/^type /, '')).filter((name) => name !== '');
}

function assertOnce(bodies) {
  // The overloads of a function are in one file.
  const names = bodies.flatMap((body) => [
    ...new Set([...body.matchAll(DECLARED)].map(([, , name]) => name)),
  ]);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two files declare ${twice}`);
}
