import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readDocumentedBlocks } from '../support/docs/documented-commands.js';
import { createGuideFolder, type GuideFolder } from '../support/docs/guide-folder.js';
import { type RunningModgate, startModgate } from '../support/start-host.js';

const PAGE = 'docs/extend/surface.md';
const FILES = [
  ...['plugins/acme-board/plugin.json', 'plugins/acme-board/package.json'],
  ...['plugins/acme-board/index.js', 'plugins/acme-board/testkit.js', 'board.yaml'],
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
    host = await startModgate([
      ...['serve', '--config', join(guide.path, 'board.yaml'), '--port', '0'],
      ...['--modules', join(guide.path, 'modules.d'), '--state', join(guide.path, 'state')],
    ]);
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

  it('has a surface that sends events until the client leaves', async () => {
    const controller = new AbortController();
    const response = await fetch(`${host.url}/board/events`, {
      headers: { authorization: 'Bearer dev-service:demo' },
      signal: controller.signal,
    });
    const first = await response.body?.getReader().read();
    expect(Buffer.from(first?.value ?? []).toString()).to.equal(': open\n\n');
    controller.abort();
  });

  it('names a command that writes a package which builds and conforms', async () => {
    symlinkSync(
      join(process.cwd(), 'node_modules/@types'),
      join(guide.path, 'node_modules/@types'),
    );
    const compile = `node '${process.cwd()}/node_modules/typescript/bin/tsc'`;
    const output = await guide.run(
      `modgate new surface @acme/board && cd board && ${compile} && modgate test-plugin . | tail -1`,
    );
    expect(output).to.match(/\n11 passed, 0 failed, 0 skipped$/);
  });
});
