import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useGuide } from '../../support/docs/use-guide.js';

const PAGE = 'docs/extend/surface.md';
const FILES = [
  ...['plugins/acme-board/plugin.json', 'plugins/acme-board/package.json'],
  ...['plugins/acme-board/index.js', 'plugins/acme-board/testkit.js', 'board.yaml'],
];

describe(PAGE, () => {
  const guide = useGuide({ page: PAGE, files: FILES });

  it('runs as written', async () => {
    expect(await guide.runCommands()).to.equal(3);
  });

  it('has a surface that sends events until the client leaves', async () => {
    const controller = new AbortController();
    const response = await fetch(`${guide.host.url}/board/events`, {
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
      join(guide.folder.path, 'node_modules/@types'),
    );
    const compile = `node '${process.cwd()}/node_modules/typescript/bin/tsc'`;
    const output = await guide.folder.run(
      `modgate new surface @acme/board && cd board && ${compile} && modgate test-plugin . | tail -1`,
    );
    expect(output).to.match(/\n13 passed, 0 failed, 0 skipped$/);
  });
});
