import { expect } from 'chai';
import { readDocumentedCommands, runDocumented } from '../../support/docs/documented-commands.js';
import { useExamples } from '../../support/docs/use-examples.js';

const PAGE = 'docs/call/console-bridge.md';
const OPERATIONS = [
  'admin_data_list',
  'admin_action_invoke',
  'config_values',
  'config_write',
  'contributions_resolve',
  'modules_metadata',
];

describe(PAGE, () => {
  const { MODGATE_STATE } = process.env;
  after(() => {
    if (MODGATE_STATE === undefined) delete process.env['MODGATE_STATE'];
    else process.env['MODGATE_STATE'] = MODGATE_STATE;
  });
  const examples = useExamples({ isInstalled: true });
  before(() => {
    process.env['MODGATE_STATE'] = examples.stateDir;
  });

  const commands = readDocumentedCommands(PAGE);

  for (const { command, output } of commands) {
    it(`runs as written: ${nameCommand(command)}`, async () => {
      expect(await runDocumented(command, examples.host.url)).to.equal(output);
    });
  }

  for (const operation of OPERATIONS) {
    it(`shows ${operation}, and that it succeeds`, () => {
      const shown = commands.filter(({ command }) => command.includes(`"${operation}"`));
      expect(shown.some(({ output }) => !output.includes('"/problems/'))).to.equal(true);
    });
  }
});

function nameCommand(command: string): string {
  const operation = /"operation": "(\w+)"/.exec(command)?.[1];
  return `${command.slice(0, 60).replaceAll('\n', ' ')}… ${operation ?? ''}`;
}
