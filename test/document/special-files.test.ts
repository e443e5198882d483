import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openIssuersAuthenticators } from '../../core/auth/issuers.js';
import { Roles } from '../../core/auth/roles.js';
import { openTokensAuthenticator } from '../../core/auth/static-tokens.js';
import { editTokenFile } from '../../core/cli/token/edit-token-file.js';
import { readConfigFile } from '../../core/config/read-config.js';
import { readHostFile } from '../../core/document/read-file.js';
import { openTls } from '../../core/http/tls/open-tls.js';
import { readKeyFile, writeKeyFile } from '../../core/identity/key-file.js';
import { PrivateFolder } from '../../core/modules/private-folder.js';
import { digestFiles } from '../../core/plugin-loader/digests.js';
import { openPlugins } from '../../core/plugin-loader/open-plugins.js';
import { isRejectedPlugin, readPluginManifest } from '../../core/plugin-loader/plugin-manifest.js';
import { createOpener } from '../../core/store/open-store.js';
import { createRecordedLog } from '../support/auth/recorded-log.js';
import { callers } from '../support/caller-certificates.js';
import { server } from '../support/certificates.js';
import {
  placeSpecialFile,
  SPECIAL_FILES,
  type SpecialFile,
} from '../support/documents/special-file.js';
import { createFolder } from '../support/temporary-folder.js';

const { log } = createRecordedLog();
const FOLDER_OPTIONS = { recursive: true, folderMode: 0o700, fileMode: 0o600 };

interface Reader {
  /** The path of the file in a folder. Default `file`. */
  readonly path?: string;
  /** Must reject. */
  readonly read: (path: string, folder: string) => Promise<unknown>;
  /** Kinds that have no meaning here, or that are valid. */
  readonly skips?: readonly SpecialFile[];
}

const REASONS =
  /regular file|larger than|more than 512 MiB|be read|does not exist|no file|leads outside|ELOOP|not created by modgate/;

/** Everything that a host reads, but the files of modules. */
const READERS: Readonly<Record<string, Reader>> = {
  'configuration file': { read: (path) => readConfigFile(path) },
  'tokens file': { read: (path) => openTokensAuthenticator(path, { log }) },
  'tokens file in modgate token': {
    read: (path) => editTokenFile(path, () => '{"tokens":[]}'),
    // A missing file is created.
    skips: ['broken link'],
  },
  'issuers file': { read: (path) => openIssuersAuthenticators(path, { log, environment: {} }) },
  'keys of an issuer': { read: (path, folder) => openWithKeys(path, folder) },
  'secret of an issuer': { read: (path, folder) => openWithSecret(path, folder) },
  certificate: { read: (path, folder) => openTlsWith(folder, { tlsCert: path }) },
  'private key': { read: (path, folder) => openTlsWith(folder, { tlsKey: path }) },
  'authority of clients': { read: (path, folder) => openTlsWith(folder, { tlsClientCa: path }) },
  'file of client certificates': {
    read: (path, folder) => openTlsWith(folder, { tlsClients: path }),
  },
  'plugin.json': {
    path: 'plugin/plugin.json',
    read: async (_path, folder) => {
      const read = await readPluginManifest(join(folder, 'plugin'), 'folder');
      if (isRejectedPlugin(read)) throw read.error;
    },
  },
  'entry of a plugin': {
    path: 'plugin/index.js',
    read: async (_path, folder) => {
      const plugin = {
        name: 'a',
        version: '1.0.0',
        contract: 1,
        kinds: ['a'],
        entry: './index.js',
      };
      writeFileSync(join(folder, 'plugin', 'plugin.json'), JSON.stringify(plugin));
      const read = await readPluginManifest(join(folder, 'plugin'), 'folder');
      if (isRejectedPlugin(read)) throw read.error;
    },
    // It is imported later, in a thread with a time limit and a memory limit.
    skips: ['huge'],
  },
  'file of a plugin that is digested': {
    path: 'plugin/file',
    read: (_path, folder) => digestFiles(join(folder, 'plugin')),
    skips: ['folder'],
  },
  'file of plugin digests': {
    read: (pluginDigests) =>
      openPlugins({ plugins: null, pluginIntegrity: 'warn', pluginDigests }, '--plugins'),
  },
  'identity keys': { read: readKeyFile },
  'last good version or status': {
    path: 'own/file',
    read: (_path, folder) => new PrivateFolder(join(folder, 'own'), FOLDER_OPTIONS).read('file'),
  },
  store: {
    path: 'modgate.db',
    read: (_path, folder) => createOpener(null, folder)(...UNHEARD),
  },
  'certificate of the store': {
    read: (path) => createOpener(`postgres://127.0.0.1:1/app?sslrootcert=${path}`, '')(...UNHEARD),
  },
};

function openTlsWith(folder: string, special: object): Promise<unknown> {
  const clients = { clients: [{ id: 'a', kind: 'service', common_name: 'a', scopes: [] }] };
  const files = {
    cert: server.cert,
    key: server.key,
    ca: callers,
    clients: JSON.stringify(clients),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const [tlsCert, tlsKey, tlsClientCa] = ['cert', 'key', 'ca'].map((name) => join(folder, name));
  const config = { tlsCert, tlsKey, tlsClientCa, tlsClients: join(folder, 'clients') };
  return openTls({ ...config, ...special } as Parameters<typeof openTls>[0], Roles.none(log), log);
}

function openIssuers(folder: string, content: object): Promise<unknown> {
  const file = join(folder, 'issuers.json');
  writeFileSync(file, JSON.stringify(content));
  return openIssuersAuthenticators(file, { log, environment: {} });
}

function openWithKeys(path: string, folder: string): Promise<unknown> {
  const issuer = {
    ...{ issuer: 'https://a.test', audience: 'a', algorithms: ['RS256'] },
    ...{ jwks: { file: path }, actor: { kind: 'service' } },
  };
  return openIssuers(folder, { issuers: [issuer] });
}

function openWithSecret(path: string, folder: string): Promise<unknown> {
  const introspection = {
    ...{ name: 'a', url: 'https://a.test/', client_id: 'a', client_secret: `file:${path}` },
    actor: { kind: 'service' },
  };
  return openIssuers(folder, { introspection: [introspection] });
}

const UNHEARD = [() => {}, () => {}] as const;

describe('a file that is not a regular file of a bounded size', () => {
  for (const [name, { path = 'file', read, skips = [] }] of Object.entries(READERS)) {
    const kinds = (Object.keys(SPECIAL_FILES) as SpecialFile[]).filter(
      (kind) => !skips.includes(kind),
    );
    it(`is rejected as ${name}: ${kinds.join(', ')}`, async () => {
      for (const kind of kinds) {
        const folder = createFolder();
        placeSpecialFile(kind, join(folder, path));
        const error = await read(join(folder, path), folder).then(
          () => null,
          (reason: unknown) => reason,
        );
        expect(error, `${kind} was read`).to.be.an('error');
        expect(String(error), kind).to.match(REASONS);
      }
    });
  }

  it('is not read through a symbolic link where the host writes', async () => {
    const folder = createFolder({ target: 'precious' });
    symlinkSync(join(folder, 'target'), join(folder, 'keys.json'));
    symlinkSync(join(folder, 'target'), join(folder, 'modgate.db'));
    symlinkSync(createFolder(), join(folder, 'linked'));
    const reads = [
      readHostFile(join(folder, 'keys.json')),
      createOpener(null, folder)(...UNHEARD),
      writeKeyFile(join(folder, 'linked', 'keys.json'), [], false),
    ];
    for (const result of await Promise.allSettled(reads)) {
      expect(result).to.have.property('status', 'rejected');
    }
    expect(readFileSync(join(folder, 'target'), 'utf8')).to.equal('precious');
  });
});
