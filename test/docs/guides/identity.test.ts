import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { findFreePort } from '../../support/free-port.js';
import { call } from '../../support/http/call.js';
import { describeWideModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

const PAGE = 'docs/operate/identity.md';

describe(PAGE, () => {
  let host: RunningHost;
  let provider: ChildProcess;
  let port: number;

  before(async () => {
    host = await startHost();
    port = await findFreePort();
    const [, example = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? [];
    const code = example
      .replace('127.0.0.1:3000', new URL(host.url).host)
      .replace('4100', `${port}`);
    provider = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' });
    for (const [module, identity] of [
      ['crm', true],
      ['other', true],
      ['plain', false],
    ] as const) {
      host.drop(
        `${module}.json`,
        describeWideModule(module, `http://127.0.0.1:${port}`, { identity }),
      );
    }
  });

  after(async () => {
    provider.kill();
    await once(provider, 'exit');
    await host.stop();
  });

  const ask = (module: string) =>
    call(host, { target: `/modules/${module}/http/a`, as: 'dev-service:me:wide.use,more' });

  it('has an example that knows its callers', async () => {
    await waitUntil('the example', async () => (await ask('crm')).status === 200);
    const { data } = JSON.parse((await ask('crm')).body.toString());
    expect(data).to.deep.equal({ caller: 'service:me', scopes: ['wide.use'] });
  });

  for (const module of ['other', 'plain']) {
    it(`has an example that rejects a call of the module ${module}`, async () => {
      await waitUntil('the module', async () => (await ask(module)).status === 502);
      expect((await ask(module)).body.toString()).to.include('"provider_status","reason":"401"');
    });
  }

  it('has an example that rejects callers that bypass the host', async () => {
    expect((await fetch(`http://127.0.0.1:${port}/a`)).status).to.equal(401);
  });

  it('has an example of some 20 lines', () => {
    const [, example = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? [];
    expect(example.trim().split('\n').length).to.be.within(15, 20);
  });
});
