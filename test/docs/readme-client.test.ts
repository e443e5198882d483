import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createWorkplace } from '../support/cli/run-in.js';
import { readDocumentedBlocks } from '../support/docs/documented-commands.js';
import { useExamples } from '../support/docs/use-examples.js';
import { compile, toModuleUrl } from '../support/typescript/compile.js';

describe('the client of the README', () => {
  const examples = useExamples();

  it('compiles, and runs as written', async () => {
    const [block] = readDocumentedBlocks('README.md').filter(({ kind }) => kind === 'ts');
    const use = (block?.body ?? '').replace('http://127.0.0.1:3000', examples.host.url);
    const place = createWorkplace();
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
      const client = toModuleUrl(readFileSync(join(place.folder, 'notes.ts'), 'utf8'));
      console.log = (value: unknown) => printed.push(value);
      await import(toModuleUrl(use.replace('./notes.js', () => client)));
    } finally {
      console.log = log;
      place.remove();
    }
    expect(printed).to.deep.equal(['tea', 'provider_error']);
  });
});
