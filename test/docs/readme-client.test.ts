import { expect } from 'chai';
import { readDocumentedBlocks } from '../support/docs/documented-commands.js';
import { useExamples } from '../support/docs/use-examples.js';
import { compile, createClientPlace, importTypeScript } from '../support/typescript/compile.js';

describe('the client of the README', () => {
  const examples = useExamples();

  it('compiles, and runs as written', async () => {
    const [block] = readDocumentedBlocks('README.md').filter(({ kind }) => kind === 'ts');
    const use = (block?.body ?? '').replace('http://127.0.0.1:3000', examples.host.url);
    const place = createClientPlace();
    const printed: unknown[] = [];
    const { log } = console;
    try {
      const { code, stderr } = await place.run([
        ...['client', 'notes', '--out', 'notes.ts', '--token', 'dev-service:demo'],
        ...['--url', examples.host.url],
      ]);
      expect(code, stderr).to.equal(0);
      const file = place.write('use.ts', use);
      expect(compile([file], { lib: ['es2022', 'dom'], types: [] })).to.deep.equal([]);
      console.log = (value: unknown) => printed.push(value);
      await importTypeScript(file);
    } finally {
      console.log = log;
    }
    expect(printed).to.deep.equal(['tea', 'provider_error']);
  });
});
