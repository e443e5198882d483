import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { findFreePort } from '../support/free-port.js';
import { waitUntil } from '../support/http/wait-until.js';

const execute = promisify(execFile);
/** No daemon, no network of its own: it works in a container too. */
const env = { ...process.env, BUILDAH_ISOLATION: 'chroot' };
const buildah = async (...args: string[]) =>
  (await execute('buildah', args, { env })).stdout.trim();

/** The commands of the steps of the image. */
const PROGRAMS = ['node', 'sh', 'install', 'rm', 'env'];
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
  this.timeout(300_000);
  let folder: string | undefined;
  const images: string[] = [];
  const containers: string[] = [];

  before(function () {
    if (spawnSync('buildah', ['--version']).error === undefined && process.getuid?.() === 0) return;
    const message = 'needs buildah, and root: apt-get install buildah';
    if (process.env['CI'] === 'true') throw new Error(message);
    console.log(`      skipped: ${message}`);
    this.skip();
  });

  after(async () => {
    for (const container of containers) await buildah('rm', container);
    if (images.length > 0) await buildah('rmi', '--force', ...images);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  it('makes an image whose host serves as another user than root', async () => {
    folder = mkdtempSync(join(tmpdir(), 'modgate-image-'));
    const base = `localhost/modgate-base-${process.pid}`;
    const image = `localhost/modgate-test-${process.pid}`;
    await createBase(join(folder, 'root'), base);
    images.unshift(base);
    const context = join(folder, 'context');
    mkdirSync(context);
    await execute('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', context]);
    writeFileSync(join(context, 'Containerfile'), readLastStage());
    const build = ['build', '--quiet', '--format', 'docker', '--build-arg', `BASE=${base}`];
    await buildah(...build, '--tag', image, context);
    images.unshift(image);
    const { config } = JSON.parse(await buildah('inspect', image)).Docker;
    expect(config).to.deep.include({
      User: `${UID}:${UID}`,
      StopSignal: 'SIGTERM',
      Cmd: ['serve'],
    });
    expect(config.Healthcheck.Test).to.include('node');

    const container = await buildah('from', image);
    containers.push(container);
    const port = await findFreePort();
    const settings = [`MODGATE_PORT=${port}`, 'MODGATE_HOST=127.0.0.1', 'MODGATE_ENV=development'];
    const flags = settings.flatMap((setting) => ['--env', setting]);
    const command = [...config.Entrypoint, ...config.Cmd];
    const child = spawn('buildah', ['run', ...flags, container, '--', ...command], {
      env,
      stdio: 'ignore',
      detached: true,
    });
    try {
      const url = `http://127.0.0.1:${port}/readyz`;
      const isReady = () =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false,
        );
      await waitUntil('the host of the image', isReady, 60_000);
      expect(await findOwner(port)).to.equal(UID);
    } finally {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }
  });
});

/** The steps after the build, which `npm ci`, `npm run build` and `npm pack` make; they take minutes. */
function readLastStage(): string {
  const text = readFileSync('deploy/Containerfile', 'utf8');
  const copied = 'COPY --from=build /tmp/modgate-*.tgz /tmp/';
  expect(text).to.include(copied).and.to.include('RUN npm ci && npm run build && npm pack');
  const [head = ''] = /^ARG BASE=.*$/m.exec(text) ?? [];
  const stage = text.slice(text.lastIndexOf('FROM '));
  return `${head}\n${stage.replace(copied, 'COPY modgate-*.tgz /tmp/')}`;
}

/** An image with Node.js, npm and a shell of this machine: no registry of images is needed. */
async function createBase(root: string, name: string): Promise<void> {
  for (const path of FOLDERS) {
    mkdirSync(join(root, path), { recursive: true });
  }
  chmodSync(join(root, 'tmp'), 0o1777);
  for (const program of PROGRAMS) {
    const path = findProgram(program);
    for (const folder of ['bin', 'usr/bin']) cpSync(path, join(root, folder, program));
    const { stdout } = await execute('ldd', [path]);
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
  await buildah('config', ...variables.flatMap((one) => ['--env', one]), container);
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
  const { stdout } = await execute('pgrep', ['-f', 'modgate/dist/core/main.js serve']);
  const isOfImage = (pid: string) => {
    const file = `/proc/${pid}/environ`;
    return existsSync(file) && readFileSync(file, 'latin1').includes(`MODGATE_PORT=${port}\0`);
  };
  const pid = stdout.trim().split('\n').findLast(isOfImage);
  return pid === undefined ? null : statSync(`/proc/${pid}`).uid;
}
