import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useGuide } from '../../support/docs/use-guide.js';

interface Page {
  readonly page: string;
  readonly plugin: string;
  readonly config: string;
  readonly env: Readonly<Record<string, string>>;
  /** Commands with the output that the page promises. */
  readonly commands: number;
  /** Credentials with another signature. */
  readonly forged: Readonly<Record<string, string>>;
}

const PAGES: readonly Page[] = [
  {
    page: 'docs/extend/authenticator.md',
    plugin: 'acme-hmac',
    config: 'hmac.yaml',
    env: { ACME_KEY: 'shared-key' },
    commands: 3,
    forged: { authorization: `Bearer billing.4102444800.${'0'.repeat(64)}` },
  },
  {
    page: 'docs/extend/signed-requests.md',
    plugin: 'acme-signed',
    config: 'signed.yaml',
    env: { BILLING_KEY: 'shared-key' },
    commands: 2,
    forged: { 'x-signature': `billing.4102444800.${'0'.repeat(64)}.${'0'.repeat(64)}` },
  },
];

for (const { page, plugin, config, env, commands, forged } of PAGES) {
  describe(page, () => {
    const names = ['plugin.json', 'package.json', 'index.js', 'testkit.js'];
    const files = [...names.map((name) => `plugins/${plugin}/${name}`), config];
    const guide = useGuide({ page, files, env });

    it('runs as written', async () => {
      expect(await guide.runCommands()).to.equal(commands);
    });

    it('has an authenticator that rejects another signature', async () => {
      const url = `${guide.host.url}/modules/notes/http/notes`;
      expect((await fetch(url, { headers: forged })).status).to.equal(401);
    });

    if (plugin !== 'acme-hmac') return;
    it('names a command that writes a package which builds and conforms', async () => {
      symlinkSync(
        join(process.cwd(), 'node_modules/@types'),
        join(guide.folder.path, 'node_modules/@types'),
      );
      const compile = `node '${process.cwd()}/node_modules/typescript/bin/tsc'`;
      const output = await guide.folder.run(
        `modgate new authenticator @acme/hmac && cd hmac && ${compile} && modgate test-plugin . | tail -1`,
      );
      expect(output).to.match(/\n14 passed, 0 failed, 1 skipped$/);
      expect(await guide.folder.run('modgate plugins --plugins .')).to.match(/^hmac +0\.1\.0 /m);
    });
  });
}
