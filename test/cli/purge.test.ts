import { expect } from 'chai';
import { runModgate } from '../support/cli/run-modgate.js';
import { statusOf, useCache } from '../support/http/use-cache.js';

const OPERATOR = 'dev-service:ops:modgate.cache.purge';

describe('modgate purge', () => {
  const { setup, get } = useCache();
  const run = (args: readonly string[], token = OPERATOR) =>
    runModgate(['purge', ...args, '--url', setup.host.url], { MODGATE_TOKEN: token });
  const isHit = async (target: string) => statusOf(await get(target))?.includes('hit') === true;
  /** Returns the cached ones; afterwards all are cached. */
  const listKept = async (targets: readonly string[]) => {
    const hits = [];
    for (const target of targets) if (await isHit(target)) hits.push(target);
    return hits;
  };
  const TARGETS = ['shop/own/a', 'shop/own/a?x=1', 'shop/own/b', 'shop/shared/a', 'raw/own/a'];

  beforeEach(() => listKept(TARGETS));

  for (const [args, left] of [
    [
      ['shop', '/own/a'],
      ['shop/own/b', 'shop/shared/a', 'raw/own/a'],
    ],
    [
      ['shop', '/own/*'],
      ['shop/shared/a', 'raw/own/a'],
    ],
    [['shop'], ['raw/own/a']],
  ] as const) {
    it(`removes what is kept for ${args.join(' ')}, and nothing else`, async () => {
      const { code, stdout, stderr } = await run(args);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.equal(`purged ${args.join(' ')}\n`);
      expect(await listKept(TARGETS)).to.deep.equal(left);
    });
  }

  it('prints what it purged as JSON', async () => {
    const one = await run(['shop', '/own/a', '--json']);
    expect(JSON.parse(one.stdout)).to.deep.equal({ module: 'shop', path: '/own/a' });
    const all = await run(['shop', '--json']);
    expect(JSON.parse(all.stdout)).to.deep.equal({ module: 'shop', path: null });
  });

  it('requires the scope', async () => {
    const { code, stderr } = await run(['shop'], 'dev-service:ops:modgate.modules.read');
    expect(code).not.to.equal(0);
    expect(stderr).to.contain('modgate.cache.purge');
    expect(await listKept(TARGETS)).to.deep.equal(TARGETS);
  });

  it('names a module that the host does not have', async () => {
    const { code, stdout, stderr } = await run(['nobody']);
    expect(code).not.to.equal(0);
    expect(stdout).to.equal('');
    expect(stderr).to.contain('no module has this name');
  });

  for (const [args, problem] of [
    [['Shop!'], 'the module must be the name of a module'],
    [['shop', 'own/a'], 'the path must be one of a call'],
    [['shop', '/own?x=1'], 'the path must be one of a call'],
    [['shop', '/own/../a'], 'the path must be one of a call'],
    [[], 'module'],
  ] as const) {
    it(`rejects the arguments ${JSON.stringify(args)} without a request`, async () => {
      const { code, stderr } = await run(args);
      expect(code).to.equal(2);
      expect(stderr).to.contain(problem);
      expect(await listKept(TARGETS)).to.deep.equal(TARGETS);
    });
  }
});
