import { expect } from 'chai';
import { createWorkplace } from '../support/cli/run-in.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { callTool, problemOf } from '../support/mcp/mcp-call.js';
import { useEach } from '../support/use.js';

const ROUTES = [
  { method: 'POST', path: '/items', capability: 'shop.write', description: 'Adds one.\n\nNow.' },
];
const ANN = 'dev-user:ann:modgate.approvals';

describe('modgate approvals', () => {
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeModule('shop', url, ROUTES, { mcp: { expose: 'all' } }),
    }),
    { args: ['--surfaces', 'mcp'] },
  );

  const place = useEach(createWorkplace);

  const run = (...args: string[]) =>
    place.run(['approvals', ...args, '--url', setup.host.url, '--token', ANN]);
  const ask = async (text: string) => {
    const result = await callTool(setup.host, 'shop_post_items', `{"body":${text}}`);
    return String(problemOf(result)['approval_id']);
  };

  it('lists, shows, approves and rejects', async () => {
    const [first, second] = [await ask('"one"'), await ask('{"t":"\u202ewo",\n\n"n":"a\u2003b"}')];
    expect((await run('approve', first)).stdout).to.equal(`approved ${first}\n`);
    expect((await run('reject', second, '--reason', 'not yet')).stdout).to.equal(
      `rejected ${second}\n`,
    );
    const listed = await run();
    expect(listed.stdout).to.match(
      new RegExp(`${first} +approved +system:root +shop +POST /items`),
    );
    const output = await run('show', second);
    expect(output.stdout).to.include('system:root requests POST /items of shop (medium)');
    expect(output.stdout).to.match(/^ {2}decided by user:ann, \S+: not yet$/m);
    expect(output.stdout).to.include('\n  description  Adds one.\n  description  Now.\n');
    expect(output.stdout).to.include(
      [
        '  warning: blanks and invisible characters are printed as escapes',
        '  arguments, 3 members, 34 bytes:',
        '    {',
        '      "body": {',
        '        "n": "a\\u2003b",',
        '        "t": "\\u202ewo"',
        '      }',
        '    }',
        '  approved before, 1 members, 14 bytes:',
        '    {',
        '      "body": "one"',
        '    }',
        '',
      ].join('\n'),
    );
    const again = await run('approve', second);
    expect(again.code).to.equal(1);
    expect(again.stderr).to.include('the request was already decided');
  });

  it('prints the decision as JSON', async () => {
    const id = await ask('"json"');
    const { stdout } = await run('reject', id, '--json');
    expect(JSON.parse(stdout)).to.include({ id, status: 'rejected' });
  });

  it('rejects a text that is no id', async () => {
    expect((await run('approve', 'a/b')).code).to.equal(2);
  });
});
