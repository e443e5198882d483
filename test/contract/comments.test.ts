import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const CORE = fileURLToPath(new URL('../../core', import.meta.url));
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:const|class|function|interface|type) (\w+)/;
const MEMBER = /^ {4}(?:readonly |static )?(?:\[?[\w.]+\]?\??(?:\(|:| =)|constructor\()/;

/** The published entries; names that they do not export need no comment. */
const ENTRIES = ['contract', 'testkit', 'client'];

describe('the comments of the published interfaces', () => {
  for (const entry of ENTRIES) {
    it(`exist for each export of modgate/${entry} and each member`, () => {
      const folder = join(CORE, entry);
      const isExported = readExported(join(folder, 'index.d.ts'));
      const bare = listDeclarations(folder).flatMap((file) => findBare(file, isExported));
      expect(bare).to.deep.equal([]);
    });
  }
});

function readExported(index: string): (name: string) => boolean {
  const text = readFileSync(index, 'utf8');
  if (text.includes('export *')) return () => true;
  const lists = [...text.matchAll(/\{([^}]+)\}/g)].flatMap(([, list = '']) => list.match(/\w+/g));
  const names = new Set(lists);
  return (name) => names.has(name);
}

function listDeclarations(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((file) => join(folder, String(file)))
    .filter((file) => file.endsWith('.d.ts') && !file.endsWith('index.d.ts'));
}

/** Declarations without a comment directly above them, as `file:name`. */
function findBare(file: string, isExported: (name: string) => boolean): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const bare: string[] = [];
  let owner: string | null = null;
  for (const [index, line] of lines.entries()) {
    const [, name] = DECLARATION.exec(line) ?? [];
    const isDeclared = name !== undefined && isExported(name);
    if (isDeclared && /interface|class/.test(line)) owner = name;
    if (line.startsWith('}')) owner = null;
    if (!isDeclared && !(owner !== null && MEMBER.test(line))) continue;
    if (!lines[index - 1]?.trimEnd().endsWith('*/')) bare.push(`${file}: ${line.trim()}`);
  }
  return bare;
}
