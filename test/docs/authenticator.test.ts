import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readDocumentedBlocks } from '../support/docs/documented-commands.js';
import { createGuideFolder, type GuideFolder } from '../support/docs/guide-folder.js';
import { type RunningModgate, startModgate } from '../support/start-host.js';

const PAGE = 'docs/extend/authenticator.md';
const FILES = [
  ...['plugins/acme-hmac/plugin.json', 'plugins/acme-hmac/package.json'],
  ...['plugins/acme-hmac/index.js', 'plugins/acme-hmac/testkit.js', 'hmac.yaml'],
];

describe(PAGE, () => {
  const blocks = readDocumentedBlocks(PAGE);
  let guide: GuideFolder;
  let host: RunningModgate;

  before(async () => {
    guide = createGuideFolder();
    cpSync('modules.d', join(guide.path, 'modules.d'), { recursive: true });
    const written = blocks.map((block) => guide.writeFile(block)).filter((file) => file !== null);
    expect(written).to.deep.equal(FILES);
    host = await startModgate(
      [
        ...['serve', '--config', join(guide.path, 'hmac.yaml'), '--port', '0'],
        ...['--modules', join(guide.path, 'modules.d'), '--state', join(guide.path, 'state')],
      ],
      { ACME_KEY: 'shared-key' },
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
    expect(compared).to.equal(3);
  });

  it('has an authenticator that rejects another signature', async () => {
    const authorization = `Bearer billing.4102444800.${'0'.repeat(64)}`;
    const response = await fetch(`${host.url}/modules/notes/http/notes`, {
      headers: { authorization },
    });
    expect(response.status).to.equal(401);
  });
});
