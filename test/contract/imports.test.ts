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

const PUBLIC = ['core/contract/index', 'plugins/shared/transport'];

/** What else plugins import that those of others cannot, and why. */
const EXCEPTIONS: Readonly<Record<string, readonly RegExp[]>> = {
  amqp: [],
  // It shows the host's own lists, and reads token responses as the transport does.
  console: [
    /^core\/contract\/[a-z-]+$/,
    /^plugins\/shared\/(?:transport\/tokens\/token-answer|[a-z-]+)$/,
  ],
  docs: [/^plugins\/shared\/(?:bundle|serve-pages)$/],
  grpc: [],
  // `modgate/transport` is built on it.
  http: [/^core\/(?:contract\/body-flow|testkit\/index)$/, /^plugins\/shared\//],
  // It runs threads, which load no more of the contract than they use.
  local: [
    /^core\/(?:contract\/(?:failure|import-(?:error|timeout))|testkit\/index)$/,
    /^plugins\/shared\/[a-z-]+$/,
  ],
  mcp: [/^plugins\/shared\/(?:slices|surface-errors)$/],
  // Its pins are digests of the canonical form.
  'mcp-client': [/^core\/contract\/canonical-value$/],
  // Its client library finds servers itself, so that it has parts of the transport alone.
  nats: [/^plugins\/shared\/[a-z-]+$/],
  // It is kind http behind a program that it runs.
  process: [/^core\/testkit\/index$/, /^plugins\/http\//, /^plugins\/shared\/[a-z-]+$/],
};

describe('the imports of the sources', () => {
  it('are at the top of each file, types included, so that the linter checks their layers', () => {
    const sources = [...listSources('core'), ...listSources('plugins')];
    expect(sources.length).to.be.above(400);
    const inline = sources.filter((file) =>
      /\bimport\('[^']+'\)\s*\.\s*[A-Z]/.test(readFileSync(file, 'utf8')),
    );
    expect(inline).to.deep.equal([]);
  });

  for (const [plugin, exceptions] of Object.entries(EXCEPTIONS)) {
    const named = exceptions.length === 0 ? '' : ', with named exceptions,';
    it(`are public and own files${named} in plugins/${plugin}`, () => {
      const own = `plugins/${plugin}/`;
      const imported = listSources(own).flatMap(listImports);
      const others = imported.filter((path) => !path.startsWith(own) && !PUBLIC.includes(path));
      const isException = (path: string) => exceptions.some((pattern) => pattern.test(path));
      expect(others.filter((path) => !isException(path))).to.deep.equal([]);
      const unused = exceptions.filter((pattern) => !others.some((path) => pattern.test(path)));
      expect(unused).to.deep.equal([]);
    });
  }

  it('name the exceptions of each plugin', () => {
    const plugins = readdirSync('plugins').filter((name) => name !== 'shared');
    expect(Object.keys(EXCEPTIONS)).to.deep.equal(plugins.toSorted());
  });

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
