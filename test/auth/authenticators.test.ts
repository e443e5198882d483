import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAuthenticators } from '../../core/auth/authenticators.js';
import { ConfigError, type HostConfig, readConfig } from '../../core/config/read-config.js';
import { SETTING_NAMES } from '../../core/config/settings.js';
import { createRecordedLog } from '../support/auth/recorded-log.js';
import { createFolder } from '../support/temporary-folder.js';

const { log } = createRecordedLog();

async function configOf(flags: Readonly<Record<string, unknown>>): Promise<HostConfig> {
  return (await readConfig(SETTING_NAMES, { flags, environment: {} })).config;
}

async function open(flags: Readonly<Record<string, unknown>>) {
  return createAuthenticators(await configOf(flags), log);
}

async function rejectionOf(flags: Readonly<Record<string, unknown>>): Promise<string> {
  const error: unknown = await open(flags).catch((reason) => reason);
  expect(error).to.be.instanceOf(ConfigError);
  return (error as ConfigError).message;
}

describe('authenticators', () => {
  let folder = '';
  let tokens = '';

  before(() => {
    folder = createFolder();
    tokens = join(folder, 'tokens.json');
    const sha256 = createHash('sha256').update('dev-system:cron').digest('hex');
    writeFileSync(
      tokens,
      JSON.stringify({ tokens: [{ id: 'a', kind: 'user', scopes: [], sha256 }] }),
    );
  });

  it('contain dev tokens in development', async () => {
    const { chain, hasDevTokens, close } = await open({ env: 'development' });
    expect(chain.map(({ name }) => name)).to.deep.equal(['dev']);
    expect(hasDevTokens).to.equal(true);
    await close();
  });

  it('contain tokens, and never dev tokens, in production', async () => {
    const { chain, hasDevTokens, close } = await open({ tokens });
    expect(chain.map(({ name }) => name)).to.deep.equal(['tokens']);
    expect(hasDevTokens).to.equal(false);
    await close();
  });

  it('try dev tokens first when there are both', async () => {
    const { chain, close } = await open({ env: 'development', tokens });
    expect(chain.map(({ name }) => name)).to.deep.equal(['dev', 'tokens']);
    await close();
  });

  it('reject production without an authenticator, with a hint', async () => {
    expect(await rejectionOf({})).to.match(/no authenticator is configured.*--tokens FILE/);
  });

  it('reject a missing or invalid tokens file', async () => {
    expect(await rejectionOf({ tokens: join(folder, 'no') })).to.equal(
      `${join(folder, 'no')} does not exist`,
    );
    const bad = join(folder, 'bad.yaml');
    writeFileSync(bad, 'tokens:\n  - id: x\n');
    expect(await rejectionOf({ tokens: bad })).to.match(
      /bad\.yaml:2:\d+ missing key .*; and 2 more$/,
    );
  });

  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'gate.example', '127.1']) {
    it(`reject dev tokens on ${host}, naming the flag that allows it`, async () => {
      const rejection = await rejectionOf({ env: 'development', host });
      expect(rejection).to.include('--allow-dev-auth-anywhere');
    });

    it(`allow dev tokens on ${host} with the flag`, async () => {
      const { hasDevTokens, close } = await open({
        env: 'development',
        host,
        allowDevAuthAnywhere: true,
      });
      expect(hasDevTokens).to.equal(true);
      await close();
    });
  }

  it('allow any address in production', async () => {
    const { close } = await open({ tokens, host: '0.0.0.0' });
    await close();
  });
});
