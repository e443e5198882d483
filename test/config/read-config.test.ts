import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { ConfigError, type ReadConfig, readConfig } from '../../core/config/read-config.js';
import {
  type HostConfig,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  settingFlag,
  settingKey,
  settingVariable,
} from '../../core/config/settings.js';
import { createFolder } from '../support/temporary-folder.js';

type Flags = Readonly<Record<string, unknown>>;

function read(flags: Flags = {}, environment: NodeJS.ProcessEnv = {}) {
  return readConfig(SETTING_NAMES, { flags, environment });
}

async function rejectionOf(reading: Promise<ReadConfig<SettingName>>): Promise<string> {
  const error: unknown = await reading.catch((reason) => reason);
  expect(error).to.be.instanceOf(ConfigError);
  return (error as ConfigError).message;
}

describe('the configuration', () => {
  let folder = '';
  let file = '';

  before(() => {
    folder = createFolder();
    file = join(folder, 'config.yaml');
  });

  function readText(text: string, flags: Flags = {}, environment: NodeJS.ProcessEnv = {}) {
    writeFileSync(file, text);
    return read({ config: file, ...flags }, environment);
  }

  it('has defaults', async () => {
    const { config } = await read();
    const expected: HostConfig = {
      modules: resolve('modules.d'),
      plugins: null,
      pluginIntegrity: 'warn',
      pluginDigests: null,
      authenticators: null,
      approvals: null,
      surfaces: null,
      state: resolve('.modgate'),
      store: null,
      fleet: null,
      releaseReferences: null,
      redis: null,
      host: '127.0.0.1',
      port: 3000,
      env: 'production',
      tokens: null,
      tokenHeader: null,
      tokenBasic: false,
      issuers: null,
      roles: null,
      allowDevAuthAnywhere: false,
      publicUrl: null,
      trustedProxies: null,
      authFailures: 0,
      cors: null,
      tlsCert: null,
      tlsKey: null,
      tlsClientCa: null,
      tlsClients: null,
      headTimeoutMs: 10_000,
      bodyTimeoutMs: 10_000,
      requestTimeoutMs: 60_000,
      sendTimeoutMs: 60_000,
      idleTimeoutMs: 65_000,
      maxHeaders: 2048,
      maxConnections: 10_000,
      maxRequestsPerConnection: 10_000,
      actorRate: 0,
      actorBurst: 0,
      identityRotationHours: 720,
      drainMs: 10_000,
      drainDelayMs: 0,
      logLevel: 'info',
      logSuccessSample: 1,
      statusFiles: 'on',
      keepCalls: 0,
      keepCallsHours: 168,
      maxInFlight: 4096,
      shedDelayMs: 250,
      memoryBudget: 134_217_728,
      actorBudget: null,
      cacheBytes: 67_108_864,
      workers: null,
    };
    expect(config).to.deep.equal(expected);
  });

  it('is frozen', async () => {
    expect((await read()).config).to.be.frozen;
  });

  it('prefers a flag to a variable, a variable to the file, and the file to the default', async () => {
    const text = 'port: 1\nhost: a\nenv: development\n';
    const variables = { MODGATE_PORT: '2', MODGATE_HOST: 'b' };
    const { config, sources } = await readText(text, { port: '3' }, variables);
    expect(config).to.include({ port: 3, host: 'b', env: 'development', logLevel: 'info' });
    expect(sources).to.include({
      port: '--port',
      host: 'MODGATE_HOST',
      env: `env in ${file}:3:1`,
      logLevel: '--log-level',
    });
  });

  it('uses the same name for a setting in every source', () => {
    expect(settingFlag('allowDevAuthAnywhere')).to.equal('--allow-dev-auth-anywhere');
    expect(settingVariable('allowDevAuthAnywhere')).to.equal('MODGATE_ALLOW_DEV_AUTH_ANYWHERE');
    expect(settingKey('drainMs')).to.equal('drain-ms');
  });

  it('treats an empty variable as absent', async () => {
    const { config } = await read({}, { MODGATE_PORT: '', MODGATE_TOKENS: '', MODGATE_CONFIG: '' });
    expect(config).to.include({ port: 3000, tokens: null });
  });

  it('rejects a variable with what its file should not have kept', async () => {
    for (const text of [
      '"/srv/state"',
      "'/srv/state'",
      '/srv/state\r',
      ' /srv/state',
      '/srv/a\n',
    ]) {
      expect(await rejectionOf(read({}, { MODGATE_STATE: text })), text).to.equal(
        'MODGATE_STATE must be without quotes around it, and without a blank or line break at an end: ' +
          'correct the file or command that sets it',
      );
    }
    const { config } = await read({}, { MODGATE_STATE: '/srv/a "b" \'' });
    expect(config.state).to.equal('/srv/a "b" \'');
  });

  it('reads modgate.yaml of the working directory by default', async () => {
    const before = process.cwd();
    writeFileSync(join(folder, 'modgate.yaml'), 'port: 9\n');
    writeFileSync(file, 'port: 7\n');
    process.chdir(folder);
    try {
      const { config, sources } = await read();
      expect(config.port).to.equal(9);
      expect(sources.port).to.equal('port in modgate.yaml:1:1');
      expect((await read({ config: file })).config.port).to.equal(7);
    } finally {
      process.chdir(before);
      rmSync(join(folder, 'modgate.yaml'));
    }
  });

  it('reads a scalar of plugins as a folder, or as a package with a scope', async () => {
    const folderOf = async (text: string) =>
      (await readText(`plugins: "${text}"\n`)).config.plugins;
    expect(await folderOf('mine')).to.deep.equal([{ kind: 'folder', path: join(folder, 'mine') }]);
    const directories = [folder, resolve('.')];
    expect(await folderOf('@acme/x')).to.deep.equal([
      { kind: 'package', name: '@acme/x', directories },
    ]);
    const { config } = await read({ plugins: '@acme/x' });
    expect(config.plugins?.[0]).to.include({ kind: 'package', name: '@acme/x' });
  });

  it('is in a file that a variable may name', async () => {
    writeFileSync(file, 'port: 7\n');
    expect((await read({}, { MODGATE_CONFIG: file })).config.port).to.equal(7);
  });

  it('resolves paths of the file in its folder, and all others in the working directory', async () => {
    const { config } = await readText('modules: m\ntokens: /t\n', { state: 's' });
    expect(config).to.include({ modules: join(folder, 'm'), tokens: '/t', state: resolve('s') });
  });

  it('reads only the settings of the command', async () => {
    const { config } = await readConfig(['state'], {
      flags: {},
      environment: { MODGATE_PORT: 'x' },
    });
    expect(config).to.deep.equal({ state: resolve('.modgate') });
  });

  const ACCEPTED: readonly (readonly [name: SettingName, text: string, value: unknown])[] = [
    ['port', '0', 0],
    ['port', '65535', 65_535],
    ['host', '::1', '::1'],
    ['host', 'gate.internal', 'gate.internal'],
    ['logSuccessSample', '0', 0],
    ['logSuccessSample', '.05', 0.05],
    ['logSuccessSample', '1.0', 1],
    ['logSuccessSample', '1e-3', 0.001],
    ['logLevel', 'silent', 'silent'],
    ['env', 'development', 'development'],
    ['drainMs', '2147483647', 2_147_483_647],
    ['maxInFlight', '1', 1],
    ['allowDevAuthAnywhere', 'true', true],
    ['allowDevAuthAnywhere', '1', true],
    ['allowDevAuthAnywhere', 'false', false],
    ['allowDevAuthAnywhere', '0', false],
    ['memoryBudget', '1000000', 1_000_000],
    ['memoryBudget', '96KiB', 98_304],
    ['memoryBudget', '2GiB', 2_147_483_648],
    ['actorBudget', '16MiB', 16_777_216],
    ['redis', 'rediss://user:secret@cache:6380/12', 'rediss://user:secret@cache:6380/12'],
    ['redis', 'redis://cache/', 'redis://cache/'],
  ];
  for (const [name, text, value] of ACCEPTED) {
    it(`accepts ${text} for ${settingVariable(name)}`, async () => {
      expect((await read({}, { [settingVariable(name)]: text })).config[name]).to.equal(value);
    });
  }

  const REJECTED: readonly (readonly [name: SettingName, text: string])[] = [
    ['port', '65536'],
    ['port', '-1'],
    ['port', '3000.0'],
    ['port', ' 3000'],
    ['port', '0x10'],
    ['port', '1e3'],
    ['port', '99999999999999999999'],
    ['host', '[::1]'],
    ['host', 'a b'],
    ['host', 'http://a'],
    ['env', 'Production'],
    ['env', 'test'],
    ['logLevel', 'verbose'],
    ['logSuccessSample', '1.1'],
    ['logSuccessSample', '-0'],
    ['logSuccessSample', 'NaN'],
    ['logSuccessSample', '50%'],
    ['drainMs', '2147483648'],
    ['drainMs', '10s'],
    ['maxInFlight', '0'],
    ['maxInFlight', 'Infinity'],
    ['allowDevAuthAnywhere', 'yes'],
    ['allowDevAuthAnywhere', 'TRUE'],
    ['modules', 'a\0b'],
    ['memoryBudget', '65535'],
    ['memoryBudget', '63KiB'],
    ['memoryBudget', '128MB'],
    ['memoryBudget', '1.5GiB'],
    ['memoryBudget', '128 MiB'],
    ['actorBudget', '99999999999999GiB'],
    ['redis', 'redis://cache/sessions'],
    ['redis', 'redis://cache/1/2'],
    ['redis', 'valkey://cache'],
  ];
  for (const [name, text] of REJECTED) {
    it(`rejects ${JSON.stringify(text)} for ${settingVariable(name)}, and does not print it`, async () => {
      const rejection = await rejectionOf(read({}, { [settingVariable(name)]: text }));
      const opening = `${settingVariable(name)} must be `;
      expect(rejection.startsWith(opening), rejection).to.equal(true);
      if (text.length > 3) expect(rejection).not.to.include(text);
    });
  }

  it('rejects what is no number for each setting that is one', async () => {
    const texts = [
      'much',
      '1.5x',
      '-5',
      '+1',
      '1,5',
      '0x10',
      '1e400',
      ' 1',
      '1 ',
      '1_000',
      '--1',
      '',
    ].concat(['NaN', 'Infinity', 'null', '[]', '\u0663', '\uff11', '1 MiB', '1mib', '1MB', '1\n2']);
    const numbers = SETTING_NAMES.filter((name) =>
      SETTINGS[name].kind.fileType.startsWith('number'),
    );
    expect(numbers).to.include.members(['cacheBytes', 'port', 'workers', 'logSuccessSample']);
    for (const name of numbers) {
      for (const text of texts) {
        const rejection = await rejectionOf(read({ [name]: text }));
        expect(rejection, `${name} ${text}`).to.include(`${settingFlag(name)} must be `);
      }
    }
  });

  it('rejects an empty flag', async () => {
    for (const name of ['modules', 'host', 'port', 'tokens', 'config']) {
      const opening = `${settingFlag(name)} must be `;
      expect((await rejectionOf(read({ [name]: '' }))).startsWith(opening)).to.equal(true);
    }
  });

  it('explains the variable that kubernetes sets for a service named modgate', async () => {
    const rejection = await rejectionOf(read({}, { MODGATE_PORT: 'tcp://10.0.0.1:3000' }));
    expect(rejection).to.include('enableServiceLinks').and.not.to.include('10.0.0.1');
  });

  const BAD_FILES: readonly (readonly [
    title: string,
    text: string,
    place: string,
    rest: string,
  ])[] = [
    [
      'a value out of range',
      '# c\n\nport: 99999\n',
      'port in :3:1',
      'must be a whole number from 0 to 65535',
    ],
    [
      'a number in quotes',
      'port: "3000"\n',
      'port in :1:1',
      'must be a whole number from 0 to 65535, written as a number',
    ],
    [
      'a string for a boolean',
      'allow-dev-auth-anywhere: "true"\n',
      'allow-dev-auth-anywhere in :1:1',
      'must be true or false, written as a boolean',
    ],
    [
      'a number for a boolean',
      'allow-dev-auth-anywhere: 1\n',
      'allow-dev-auth-anywhere in :1:1',
      'must be true or false, written as a boolean',
    ],
    [
      'a number for a name',
      'host: 127\n',
      'host in :1:1',
      'must be an IP address without brackets, or a host name, written as a string',
    ],
    ['no value', 'tokens:\n', 'tokens in :1:1', 'must be the path of a file, written as a string'],
    [
      'a list',
      'port: [1]\n',
      'port in :1:1',
      'must be a whole number from 0 to 65535, written as a number',
    ],
    ['a typing error', 'port: 1\nprot: 2\n', ':2:1', "unknown key 'prot' (did you mean 'port'?)"],
    [
      'a name in camelCase',
      'drainMs: 1\n',
      ':1:1',
      "unknown key 'drainMs' (did you mean 'drain-ms'?)",
    ],
    ['another configuration file', 'config: other.yaml\n', ':1:1', "unknown key 'config'"],
    ['the same key twice', 'port: 1\nport: 2\n', ':2:1', 'this mapping has the same key twice'],
  ];
  for (const [title, text, place, rest] of BAD_FILES) {
    it(`rejects a file with ${title}, with its place`, async () => {
      const rejection = await rejectionOf(readText(text));
      expect(rejection)
        .to.include(place.replace(':', `${file}:`))
        .and.to.include(rest);
    });
  }

  it('validates a value of the file even if a flag overrides it', async () => {
    expect(await rejectionOf(readText('port: 99999\n', { port: '1' }))).to.include('port in ');
  });

  it('rejects a file that is missing, malformed, or not a mapping', async () => {
    const missing = join(folder, 'missing.yaml');
    expect(await rejectionOf(read({ config: missing }))).to.equal(`${missing} does not exist`);
    expect(await rejectionOf(readText('port: [\n'))).to.match(/config\.yaml:\d+:\d+ /);
    expect(await rejectionOf(readText('- port\n'))).to.include('must be a mapping of settings');
  });
});
