import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';

function listSources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));
}

/** The imported files, as paths from the root of the repository. */
function listImports(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/\b(?:from|import\() ?'(\.[^']+)\.js'/g)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  );
}

/** What of the contract shipped plugins alone may import: descriptions of structs, and pieces. */
const INTERNAL = ['core/contract/described', 'core/contract/body-pieces'];
const PUBLIC = ['core/contract/index', 'plugins/shared/transport'];

describe('the imports of the sources', () => {
  it('are at the top of each file, types included, so that the linter checks their layers', () => {
    const sources = [...listSources('core'), ...listSources('plugins')];
    expect(sources.length).to.be.above(400);
    const inline = sources.filter((file) =>
      /\bimport\('[^']+'\)\s*\.\s*[A-Z]/.test(readFileSync(file, 'utf8')),
    );
    expect(inline).to.deep.equal([]);
  });

  for (const plugin of ['amqp', 'grpc', 'mcp-client']) {
    it(`are modgate/contract, modgate/transport and its own files in plugins/${plugin}`, () => {
      const own = `plugins/${plugin}/`;
      const imported = listSources(own).flatMap(listImports);
      expect(imported).to.include.members(PUBLIC);
      const others = imported.filter(
        (path) => !path.startsWith(own) && ![...PUBLIC, ...INTERNAL].includes(path),
      );
      expect(others).to.deep.equal([]);
    });
  }

  it('are never files of another plugin, but for kind process, which is kind http', () => {
    const plugins = readdirSync('plugins').filter((name) => name !== 'shared');
    const foreign = plugins.flatMap((plugin) =>
      listSources(`plugins/${plugin}`)
        .flatMap(listImports)
        .filter((path) => path.startsWith('plugins/') && !path.startsWith('plugins/shared/'))
        .filter((path) => !path.startsWith(`plugins/${plugin}/`))
        .map((path) => `${plugin} imports ${path}`),
    );
    const isOfProcess = (text: string) => /^process imports plugins\/http\//.test(text);
    expect(foreign.filter(isOfProcess)).to.have.length.above(0);
    expect(foreign.filter((text) => !isOfProcess(text))).to.deep.equal([]);
  });

  it('are openapi-fetch alone in the client, which browsers load', () => {
    const imported = listSources('core/client').flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\bfrom '([^']+)'/g)].map(([, name]) => name),
    );
    const others = imported.filter((name = '') => !/^\.\/[\w-]+\.js$/.test(name));
    expect([...new Set(others)]).to.deep.equal(['openapi-fetch']);
  });
});
