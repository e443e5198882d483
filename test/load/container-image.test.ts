import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { findFreePort } from '../support/free-port.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createFolder } from '../support/temporary-folder.js';

const execute = promisify(execFile);
/** No daemon, no network of its own: it works in a container too. */
const env = { ...process.env, BUILDAH_ISOLATION: 'chroot' };
const buildah = async (...args: string[]) =>
  (await execute('buildah', args, { env })).stdout.trim();

/** The commands of the steps of the image. */
const PROGRAMS = ['node', 'sh', 'install', 'rm', 'env'];
/** The native part of the driver of SQLite, which needs libraries too. */
const DRIVER = `linux-${process.arch}-gnu`;
const FOLDERS = [
  'bin',
  'usr/bin',
  'usr/lib/node_modules',
  'etc',
  'root',
  'proc',
  'dev',
  'sys',
  'tmp',
];
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const UID = 1000;

describe('deploy/Containerfile', function () {
  // Its first stage installs all packages and compiles.
  this.timeout(900_000);
  let folder: string;
  let image: string;
  const images: string[] = [];
  const containers: string[] = [];

  before(async function () {
    if (spawnSync('buildah', ['--version']).error !== undefined || process.getuid?.() !== 0) {
      const message = 'needs buildah, and root: apt-get install buildah';
      if (process.env['CI'] === 'true') throw new Error(message);
      console.log(`      skipped: ${message}`);
      this.skip();
    }
    folder = createFolder();
    const base = `localhost/modgate-base-${process.pid}`;
    image = `localhost/modgate-test-${process.pid}`;
    await createBase(join(folder, 'root'), base);
    images.unshift(base);
    const build = ['build', '--quiet', '--format', 'docker', '--build-arg', `BASE=${base}`];
    await buildah(...build, '--file', 'deploy/Containerfile', '--tag', image, '.');
    images.unshift(image);
  });

  after(async () => {
    for (const container of containers) await buildah('rm', container);
    if (images.length > 0) await buildah('rmi', '--force', ...images);
  });

  const readConfig = async () => JSON.parse(await buildah('inspect', image)).Docker.config;
  const createContainer = async () => {
    const container = await buildah('from', image);
    containers.push(container);
    return container;
  };

  it('makes an image whose host serves as another user than root', async () => {
    const config = await readConfig();
    expect(config).to.deep.include({
      User: `${UID}:${UID}`,
      StopSignal: 'SIGTERM',
      Cmd: ['serve'],
    });
    expect(config.Healthcheck.Test).to.include('node');
    const port = await findFreePort();
    const flags = listSettings(port).flatMap((setting) => ['--env', setting]);
    const command = [...config.Entrypoint, ...config.Cmd];
    const arguments_ = ['run', ...flags, await createContainer(), '--', ...command];
    await withProcess('buildah', arguments_, async () => {
      await waitUntil('the host of the image', () => isReady(port), START_MS);
      expect(await findOwner(port)).to.equal(UID);
    });
  });

  it('makes an image that runs with a read-only root, and writes to its volume alone', async () => {
    const { Entrypoint, Cmd, Env, Volumes, WorkingDir } = await readConfig();
    expect(Object.keys(Volumes)).to.deep.equal(['/var/lib/modgate']);
    const root = await buildah('mount', await createContainer());
    mkdirSync(join(root, 'etc/modgate/modules.d'), { recursive: true });
    writeFileSync(join(root, 'etc/modgate/modules.d/crm.json'), JSON.stringify(CRM));
    writeFileSync(join(root, 'etc/modgate/modules.d/crm.mjs'), CODE);
    const port = await findFreePort();
    const variables = [...Env, ...listSettings(port)];
    const script = [
      `mount --bind ${root} ${root}`,
      `mount -o remount,ro,bind ${root}`,
      ...['proc', 'dev'].map((name) => `mount --rbind /${name} ${root}/${name}`),
      `mount -t tmpfs -o uid=${UID},gid=${UID},mode=0700 tmpfs ${root}/var/lib/modgate`,
      // The test of this test: nothing else can be written.
      `! chroot ${root} /bin/sh -c ': > /srv/modgate/written' 2>/dev/null`,
      `exec chroot --userspec=${UID}:${UID} ${root} /usr/bin/env -i ${variables.join(' ')} \
        /bin/sh -c 'cd ${WorkingDir} && exec ${[...Entrypoint, ...Cmd].join(' ')}'`,
    ].join(' && ');
    await withProcess('unshare', ['--mount', 'sh', '-c', script], async () => {
      await waitUntil('the host with a read-only root', () => isReady(port), START_MS);
      expect(await findOwner(port)).to.equal(UID);
      const read = (path: string) =>
        fetch(`http://127.0.0.1:${port}${path}`, {
          headers: {
            authorization:
              'Bearer dev-service:test:modgate.modules.read,modgate.audit.read,crm.read',
          },
        });
      const { modules } = (await (await read('/modules')).json()) as { modules: object[] };
      expect(modules).to.have.length(1);
      expect(modules[0]).to.include({ name: 'crm', state: 'live' });
      expect((await read('/modules/crm/http/items')).status).to.equal(200);
      // Opens the store.
      const audit = await read('/audit');
      expect(audit.status, await audit.text()).to.equal(200);
    });
  });
});

const START_MS = 60_000;
/** A module whose code runs, and whose folder is under the state. */
const CRM = {
  apiVersion: 'modgate/v1',
  module: 'crm',
  provider: { kind: 'local', config: { file: './crm.mjs' } },
  manifest: {
    inline: {
      protocol: 'modgate.manifest.v1',
      module_id: 'crm',
      capabilities: ['crm.read'],
      http_routes: [{ method: 'GET', path: '/items', capability: 'crm.read' }],
    },
  },
};

const CODE = `import { writeFileSync } from 'node:fs';
export default (_operation, { stateDir }) => {
  writeFileSync(stateDir + '/calls', 'one');
  return { status: 200, body: {} };
};`;

function listSettings(port: number): string[] {
  return [`MODGATE_PORT=${port}`, 'MODGATE_HOST=127.0.0.1', 'MODGATE_ENV=development'];
}

function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Runs a command as long as the work takes, and ends all of its processes. An error shows their output. */
async function withProcess(command: string, args: readonly string[], work: () => Promise<void>) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes) => {
      output += bytes;
    });
  }
  try {
    await work();
  } catch (cause) {
    throw new Error(`${(cause as Error).message}\n${output}`, { cause });
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }
}

/** An image with Node.js, npm and a shell of this machine: no registry of images is needed. */
async function createBase(root: string, name: string): Promise<void> {
  for (const path of FOLDERS) {
    mkdirSync(join(root, path), { recursive: true });
  }
  chmodSync(join(root, 'tmp'), 0o1777);
  for (const program of PROGRAMS) {
    for (const folder of ['bin', 'usr/bin'])
      cpSync(findProgram(program), join(root, folder, program));
  }
  const driver = createRequire(import.meta.resolve('libsql')).resolve(`@libsql/${DRIVER}`);
  for (const file of [...PROGRAMS.map(findProgram), driver]) {
    const { stdout } = await execute('ldd', [file]);
    for (const [library] of stdout.matchAll(/\/\S+/g)) {
      mkdirSync(join(root, dirname(library)), { recursive: true });
      cpSync(realpathSync(library), join(root, library));
    }
  }
  const npm = dirname(dirname(realpathSync(findProgram('npm'))));
  cpSync(npm, join(root, 'usr/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/bin/npm'));
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\n');
  const container = await buildah('from', 'scratch');
  const readSetting = async (key: string) => {
    const { stdout } = await execute('npm', ['config', 'get', key]);
    return stdout.trim();
  };
  const certificates = await readSetting('cafile');
  const trusted = [certificates, CERTIFICATES].find((file) => existsSync(file));
  if (trusted !== undefined) cpSync(trusted, join(root, 'etc', basename(CERTIFICATES)));
  await buildah('copy', '--quiet', container, root, '/');
  const variables = [
    'PATH=/usr/bin:/bin',
    `npm_config_registry=${await readSetting('registry')}`,
    `npm_config_cafile=/etc/${basename(CERTIFICATES)}`,
  ];
  await buildah('config', ...variables.flatMap((variable) => ['--env', variable]), container);
  await buildah('commit', '--quiet', '--rm', container, name);
}

function findProgram(name: string): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const path = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (path === undefined) throw new Error(`${name} is not installed`);
  return realpathSync(path);
}

/** The user of the process whose command line has the port in its environment. */
async function findOwner(port: number): Promise<number | null> {
  const { stdout } = await execute('pgrep', ['-f', 'modgate/lib/core/main.js serve']);
  const isOfImage = (pid: string) => {
    const file = `/proc/${pid}/environ`;
    return existsSync(file) && readFileSync(file, 'latin1').includes(`MODGATE_PORT=${port}\0`);
  };
  const pid = stdout.trim().split('\n').findLast(isOfImage);
  return pid === undefined ? null : statSync(`/proc/${pid}`).uid;
}
