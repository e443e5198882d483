import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';

const FOLDERS = ['bench', 'bench/parts', 'bench/servers'];
const IMPORT = /^import \{([^}]*)\} from '((?:\.\.\/)+dist\/[^']+)';/gm;

const imports = FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.mjs'))
    .flatMap((name) => listImports(folder, name)),
);

function listImports(folder: string, name: string) {
  const text = readFileSync(join(folder, name), 'utf8');
  return [...text.matchAll(IMPORT)].map(([, names = '', path = '']) => ({
    bench: join(folder, name),
    module: join(folder, path),
    names: names
      .split(',')
      .map((imported) => imported.trim().split(' ')[0] ?? '')
      .filter((imported) => imported !== ''),
  }));
}

describe('benchmarks', () => {
  it('import modules of the build', () => {
    expect(imports).to.have.length.of.at.least(5);
  });

  for (const { bench, module, names } of imports) {
    it(`import what ${module} exports (${bench})`, async () => {
      const exports = (await import(pathToFileURL(module).href)) as Record<string, unknown>;
      expect(exports).to.include.keys(names);
    });
  }
});
