import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

function listSources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));
}

describe('the imports of the sources', () => {
  it('are at the top of each file, types included, so that the linter checks their layers', () => {
    const sources = [...listSources('core'), ...listSources('plugins')];
    expect(sources.length).to.be.above(400);
    const inline = sources.filter((file) =>
      /\bimport\('[^']+'\)\s*\.\s*[A-Z]/.test(readFileSync(file, 'utf8')),
    );
    expect(inline).to.deep.equal([]);
  });

  it('are openapi-fetch alone in the client, which browsers load', () => {
    const imported = listSources('core/client').flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\bfrom '([^']+)'/g)].map(([, name]) => name),
    );
    const others = imported.filter((name = '') => !/^\.\/[\w-]+\.js$/.test(name));
    expect([...new Set(others)]).to.deep.equal(['openapi-fetch']);
  });
});
