import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readDocumentedBlocks } from '../../support/docs/documented-commands.js';
import { createGuideFolder } from '../../support/docs/guide-folder.js';
import { findFreePort } from '../../support/free-port.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { openHost, type RunningModgate } from '../../support/open-host.js';
import { use } from '../../support/use.js';

const PAGE = 'docs/operate/first-module.md';

describe(PAGE, () => {
  let host: RunningModgate | null = null;
  let service: ChildProcess | null = null;

  const guide = use(createGuideFolder);

  after(async () => {
    service?.kill();
    const exit = await host?.stop();
    guide.remove();
    if (exit !== undefined) expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  const start = () =>
    openHost([
      ...['serve', '--env', 'development', '--port', '0'],
      ...['--modules', join(guide.path, 'modules.d'), '--state', join(guide.path, 'state')],
    ]);

  it('runs as written, from the first command to the last', async () => {
    const blocks = readDocumentedBlocks(PAGE);
    const servicePort = await findFreePort();
    let compared = 0;
    for (const [index, { kind, body: written }] of blocks.entries()) {
      const body = written.replaceAll('127.0.0.1:4100', `127.0.0.1:${servicePort}`);
      const file = guide.writeFile({ kind, body: body.replaceAll('4100', `${servicePort}`) });
      if (file === 'tasks.mjs') service = await startService(join(guide.path, file), servicePort);
      if (kind === 'yaml' && file === null) expectCreated(body);
      if (kind !== 'sh') continue;
      if (body.includes('modgate serve')) {
        host = await start();
        continue;
      }
      const next = blocks[index + 1];
      if (next?.kind !== 'text' && next?.kind !== 'json') expect.fail(`no output: ${body}`);
      expect(mask(await guide.run(toUrl(body)))).to.equal(next.body.trim());
      compared += 1;
    }
    expect(compared).to.equal(8);
  });

  it('ends with a module that is stale, with the message that check has', async () => {
    const url = host?.url ?? expect.fail('the host has not started');
    const env = `MODGATE_URL=${url} MODGATE_TOKEN=dev-system:ops`;
    const read = () => guide.run(`${env} modgate status`);
    await waitUntil('the module is stale', async () => /tasks +stale/.test(await read()));
    expect(await read())
      .to.include("unknown key 'limit'")
      .and.include("did you mean 'limits'?");
  });

  /** Compares the files of `modgate new` with the page. */
  const expectCreated = (body: string) => {
    const files = ['modules.d/greeter.yaml', 'modules.d/greeter/manifest.yaml'];
    const texts = files.map((file) => readFileSync(join(guide.path, file), 'utf8'));
    expect(
      texts.some((text) => text.includes(body)),
      body,
    ).to.equal(true);
  };

  const toUrl = (command: string) => {
    if (host === null) return command;
    const { host: address } = new URL(host.url);
    return `export MODGATE_URL=${host.url}\n${command.replaceAll('localhost:3000', address)}`;
  };
});

function mask(text: string): string {
  return text
    .replace(/"(request_id|correlation_id)":"[^"]+"/g, '"$1":"…"')
    .replace(/sha256:[0-9a-f]{64}/g, 'sha256:…');
}

async function startService(file: string, port: number): Promise<ChildProcess> {
  const service = spawn(process.execPath, [file], { stdio: 'inherit' });
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/tasks`).then(
      () => true,
      () => false,
    );
  await waitUntil('the service', isUp);
  return service;
}
