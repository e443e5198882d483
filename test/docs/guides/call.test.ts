import { expect } from 'chai';
import { readDocumentedCommands, runDocumented } from '../../support/docs/documented-commands.js';
import { useExamples } from '../../support/docs/use-examples.js';

const PAGES = ['authentication', 'requests', 'problems', 'paging'];

for (const page of PAGES.map((name) => `docs/call/${name}.md`)) {
  describe(page, () => {
    const examples = useExamples();
    const commands = readDocumentedCommands(page);

    for (const { command, output } of commands) {
      it(`runs as written: ${command.slice(0, 90).replaceAll('\n', ' ')}…`, async () => {
        expect(await runDocumented(command, examples.host.url)).to.equal(output);
      });
    }

    it('has a command to run', () => {
      expect(commands).not.to.have.length(0);
    });
  });
}
