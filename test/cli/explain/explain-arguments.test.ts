import { expect } from 'chai';
import { startFakeHost } from '../../support/cli/fake-host.js';
import { runModgate } from '../../support/cli/run-modgate.js';

describe('modgate explain: arguments', () => {
  it('sends tokens only to the host and prints none', async () => {
    const fake = await startFakeHost(() => ({ body: 'x' }));
    const args = ['explain', 'GET', '/x?a=1&b=%2F#', '--as', 'opensesame', '--url', fake.url];
    const { code, stderr } = await runModgate(args);
    const [request = ''] = fake.requests;
    expect(fake.lastHeader('modgate-explain-as')).to.equal('opensesame');
    await fake.close();
    expect(request).not.to.include('opensesame');
    const query = new URL(request.replace('GET ', ''), fake.url).searchParams;
    expect([...query]).to.deep.equal([
      ['method', 'GET'],
      ['target', '/x?a=1&b=%2F#'],
    ]);
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: `modgate: ${fake.url} is not a modgate host: unexpected response\n`,
    });
  });

  const REFUSED: readonly (readonly [args: readonly string[], line: RegExp])[] = [
    [['GET'], /^missing required argument 'path'$/],
    [['G ET', '/x'], /^expected a method first, such as GET$/],
    [['GET', ''], /^argument 'path' must not be empty$/],
    [['GET', '/x', '--as', ''], /^--as must not be empty$/],
    [['--request-id', ''], /^--request-id must not be empty$/],
    [['GET', '/x', '--as', 'hunter2\n'], /^--as must be a token/],
    [['GET', '/x', '--modules', 'nowhere'], /^--modules must be a folder that can be read: /],
    [
      ['GET', '/x', '--modules', '.', '--url', 'http://h'],
      /^--url cannot be used with --modules: choose files or a running host$/,
    ],
    [['GET', '/x', '--url', 'hunter2'], /^--url must be an http or https URL/],
  ];
  for (const [args, line] of REFUSED) {
    it(`rejects ${JSON.stringify(args.join(' '))} with one line and exit 2`, async () => {
      const { code, stdout, stderr } = await runModgate(['explain', ...args]);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr)
        .to.match(/^modgate: [^\n]+\n$/)
        .and.not.include('hunter2');
      expect(stderr.slice('modgate: '.length, -1)).to.match(line);
    });
  }
});
