import { expect } from 'chai';
import { readDocumentedCommands, runDocumented } from '../support/docs/documented-commands.js';
import { useExamples } from '../support/docs/use-examples.js';

describe('README', () => {
  const examples = useExamples();

  for (const { command, output } of readDocumentedCommands('README.md')) {
    it(`runs as written: ${command.slice(0, 90).replaceAll('\n', ' ')}…`, async () => {
      expect(await runDocumented(command, examples.host.url)).to.equal(output);
    });
  }

  it('has commands to run', () => {
    expect(readDocumentedCommands('README.md').length).to.be.greaterThan(6);
  });
});
