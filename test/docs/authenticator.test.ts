import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readDocumentedBlocks } from '../support/docs/documented-commands.js';
import { createGuideFolder, type GuideFolder } from '../support/docs/guide-folder.js';
import { type RunningModgate, startModgate } from '../support/start-host.js';

interface Guide {
  readonly page: string;
  readonly plugin: string;
  readonly config: string;
  readonly env: Readonly<Record<string, string>>;
  /** Commands with the output that the page promises. */
  readonly commands: number;
  /** Credentials with another signature. */
  readonly forged: Readonly<Record<string, string>>;
}

const GUIDES: readonly Guide[] = [
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

for (const { page, plugin, config, env, commands, forged } of GUIDES) {
  describe(page, () => {
    const blocks = readDocumentedBlocks(page);
    let guide: GuideFolder;
    let host: RunningModgate;

    before(async () => {
      guide = createGuideFolder();
      cpSync('modules.d', join(guide.path, 'modules.d'), { recursive: true });
      const written = blocks.map((block) => guide.writeFile(block)).filter((file) => file !== null);
      const files = ['plugin.json', 'package.json', 'index.js', 'testkit.js'];
      expect(written).to.deep.equal([...files.map((file) => `plugins/${plugin}/${file}`), config]);
      host = await startModgate(
        [
          ...['serve', '--config', join(guide.path, config), '--port', '0'],
          ...['--modules', join(guide.path, 'modules.d'), '--state', join(guide.path, 'state')],
        ],
        env,
      );
    });

    after(async () => {
      const exit = await host?.stop();
      guide.remove();
      if (exit !== undefined) expect(exit).to.deep.equal({ code: 0, signal: null });
    });

    it('runs as written', async () => {
      let compared = 0;
      for (const [index, { kind, body }] of blocks.entries()) {
        const next = blocks[index + 1];
        if (kind !== 'sh' || next?.kind !== 'text') continue;
        const command = body.replaceAll('localhost:3000', new URL(host.url).host);
        expect(await guide.run(command), body).to.equal(next.body.trim());
        compared += 1;
      }
      expect(compared).to.equal(commands);
    });

    it('has an authenticator that rejects another signature', async () => {
      const response = await fetch(`${host.url}/modules/notes/http/notes`, { headers: forged });
      expect(response.status).to.equal(401);
    });
  });
}
