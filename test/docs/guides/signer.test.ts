import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useGuide } from '../../support/docs/use-guide.js';

const PAGE = 'docs/extend/signer.md';

describe(PAGE, () => {
  const names = ['plugin.json', 'package.json', 'index.js', 'testkit.js'];
  const files = names.map((name) => `plugins/acme-sign/${name}`);
  const guide = useGuide({
    page: PAGE,
    files: [...files, 'modules.d/orders.yaml', 'sign.yaml'],
    env: { ORDERS_KEY: 'shared-key' },
  });

  it('runs as written', async () => {
    expect(await guide.runCommands()).to.equal(2);
  });

  it('has a module that is live', async () => {
    const headers = { authorization: 'Bearer dev-service:ops:modgate.modules.read' };
    const response = await fetch(`${guide.host.url}/modules`, { headers });
    const { modules } = (await response.json()) as { modules: Record<string, unknown>[] };
    expect(modules.find(({ name }) => name === 'orders')).to.include({ state: 'live' });
  });

  it('names a command that writes a package which builds and conforms', async () => {
    const types = join(process.cwd(), 'node_modules/@types');
    symlinkSync(types, join(guide.folder.path, 'node_modules/@types'));
    const compile = `node '${process.cwd()}/node_modules/typescript/bin/tsc'`;
    const output = await guide.folder.run(
      `modgate new signer @acme/sign && cd sign && ${compile} && modgate test-plugin . | tail -1`,
    );
    expect(output).to.match(/\n10 passed, 0 failed, 0 skipped$/);
  });
});
