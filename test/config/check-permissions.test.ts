import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { warnOfOpenPermissions } from '../../core/config/check-permissions.js';
import { createRecordedLog } from '../support/auth/recorded-log.js';
import { startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';

const STATE = 'others than its owner may read or change the state folder: chmod 700';
const TOKENS = 'others than its owner may read or change the tokens file: chmod 600';

const MODULES = 'every user may change the modules folder: chmod -R o-w';
const PLUGINS = 'every user may change the plugins folder: chmod -R o-w';
const ISSUERS = 'every user may change the issuers file: chmod o-w';
const ROLES = 'every user may change the roles file: chmod o-w';
const DIGESTS = 'every user may change the file of plugin digests: chmod o-w';
const CLIENTS = 'every user may change the file of client certificates: chmod o-w';

const MODES: readonly (readonly [state: number, tokens: number, warnings: readonly string[]])[] = [
  [0o700, 0o600, []],
  [0o700, 0o640, []],
  [0o750, 0o600, [STATE]],
  [0o707, 0o600, [STATE]],
  [0o720, 0o600, [STATE]],
  [0o700, 0o644, [TOKENS]],
  [0o700, 0o620, [TOKENS]],
  [0o700, 0o602, [TOKENS]],
  [0o755, 0o666, [STATE, TOKENS]],
];

const FILES = ['issuers.json', 'digests.json', 'clients.json', 'roles.json'] as const;
const NOTHING = {
  ...{ state: '', modules: '', plugins: null, tokens: null },
  ...{ issuers: null, pluginDigests: null, tlsClients: null, roles: null },
};

/** Settings whose paths are in the folder. */
function name(folder: string, locate: (file: string) => string) {
  const [issuers, pluginDigests, tlsClients, roles] = FILES.map(locate) as [
    string,
    string,
    string,
    string,
  ];
  return {
    ...{ state: locate('state'), modules: locate('modules'), tokens: locate('tokens.json') },
    plugins: [
      { kind: 'folder' as const, path: locate('plugins') },
      { kind: 'package' as const, name: '@acme/x', directories: [folder] },
    ],
    ...{ issuers, pluginDigests, tlsClients, roles },
  };
}

describe('files that other users may read or change', () => {
  let folder: string;

  beforeEach(() => {
    folder = createFolder();
  });

  for (const [stateMode, tokensMode, warnings] of MODES) {
    const title = `${stateMode.toString(8)} and ${tokensMode.toString(8)}`;
    it(`cause ${warnings.length} warnings, for the state folder and the tokens file at ${title}`, () => {
      const state = join(folder, 'state');
      const tokens = join(folder, 'tokens.json');
      mkdirSync(state);
      writeFileSync(tokens, '');
      chmodSync(state, stateMode);
      chmodSync(tokens, tokensMode);
      const { log, lines } = createRecordedLog();
      warnOfOpenPermissions({ ...NOTHING, state, tokens }, log);
      expect(lines.map(({ level, message }) => [level, message])).to.deep.equal(
        warnings.map((message) => ['warn', message]),
      );
    });
  }

  it('cause no warnings when they do not exist', () => {
    const { log, lines } = createRecordedLog();
    const missing = join(folder, 'missing');
    warnOfOpenPermissions(
      name(missing, () => missing),
      log,
    );
    expect(lines).to.deep.equal([]);
  });

  const OPEN: readonly (readonly [path: string, mode: number, warnings: readonly string[]])[] = [
    ['modules', 0o777, [MODULES]],
    ['modules', 0o1777, [MODULES]],
    ['modules', 0o775, []],
    ['modules/crm.yaml', 0o666, [MODULES]],
    ['modules/crm.yaml', 0o664, []],
    ['plugins', 0o757, [PLUGINS]],
    ['plugins/acme', 0o777, [PLUGINS]],
    ['plugins/acme', 0o755, []],
    ['issuers.json', 0o666, [ISSUERS]],
    ['issuers.json', 0o664, []],
    ['digests.json', 0o646, [DIGESTS]],
    ['roles.json', 0o602, [ROLES]],
    ['clients.json', 0o622, [CLIENTS]],
  ];
  for (const [path, mode, warnings] of OPEN) {
    it(`cause ${warnings.length} warnings for ${path} at ${mode.toString(8)}`, () => {
      for (const made of ['state', 'modules', 'plugins', 'plugins/acme']) {
        mkdirSync(join(folder, made), { mode: 0o700 });
      }
      for (const made of ['tokens.json', ...FILES, 'modules/crm.yaml']) {
        writeFileSync(join(folder, made), '', { mode: 0o600 });
      }
      chmodSync(join(folder, path), mode);
      const { log, lines } = createRecordedLog();
      warnOfOpenPermissions(
        name(folder, (file) => join(folder, file)),
        log,
      );
      expect(lines.map(({ level, message }) => [level, message])).to.deep.equal(
        warnings.map((message) => ['warn', message]),
      );
      expect(lines.map(({ fields }) => fields['file'] ?? fields['folder'])).to.deep.equal(
        warnings.map(() => join(folder, path)),
      );
    });
  }

  it('are logged when the host starts', async () => {
    const tokens = join(folder, 'tokens.json');
    writeFileSync(tokens, '{"tokens":[]}');
    chmodSync(tokens, 0o666);
    chmodSync(folder, 0o755);
    const plugins = join(folder, 'plugins');
    mkdirSync(plugins);
    chmodSync(plugins, 0o777);
    const args = ['--tokens', tokens, '--state', folder, '--plugins', plugins];
    const host = await startHostProcess({ args });
    try {
      expect(host.logs().map(({ msg }) => msg)).to.include.members([STATE, TOKENS, PLUGINS]);
    } finally {
      await host.stop();
    }
  });
});
