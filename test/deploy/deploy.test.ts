import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { parse } from 'yaml';
import { findUnknownVariables } from '../../core/config/unknown-variables.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { findFreePort } from '../support/free-port.js';
import { describeModule } from '../support/http/modules.js';
import { echoMessages, ROUTES } from '../support/http/use-websockets.js';
import { waitUntil } from '../support/http/wait-until.js';
import { describeNginx, startNginx } from '../support/nginx.js';
import { answerJson, startProvider } from '../support/provider.js';
import { startHost } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';

const KUBERNETES = 'deploy/kubernetes';
const MAX_EXPOSURE = 2;

/** The type of each kind in the package kubernetes-types. */
const TYPES: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  Service: 'core/v1',
  PodDisruptionBudget: 'policy/v1',
  NetworkPolicy: 'networking/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
};

interface Resource {
  readonly kind: string;
}

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly enableServiceLinks: boolean;
        readonly containers: readonly {
          readonly args: readonly string[];
          readonly env: readonly { readonly name: string }[];
        }[];
      };
    };
  };
}

const read = (file: string) => readFileSync(file, 'utf8');

/** Runs a program that a machine may lack. */
function runOrSkip(
  context: Mocha.Context,
  needed: string,
  command: string,
  args: readonly string[],
) {
  const { error, status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (error === undefined) return { status, output: `${stdout}${stderr}` };
  const message = `needs ${command}: apt-get install ${needed}`;
  if (process.env['CI'] === 'true') throw new Error(message);
  console.log(`      skipped: ${message}`);
  return context.skip();
}

describe('deploy/kubernetes', () => {
  const { resources, configMapGenerator } = parse(read(`${KUBERNETES}/kustomization.yaml`));
  const manifests = resources.map((file: string): Resource => parse(read(`${KUBERNETES}/${file}`)));

  it('lists every file in kustomization.yaml', () => {
    const files = readdirSync(KUBERNETES).filter((file) => file.endsWith('.yaml'));
    expect(['kustomization.yaml', ...resources]).to.have.members(files);
    const descriptors = readdirSync(`${KUBERNETES}/modules.d`).map((file) => `modules.d/${file}`);
    expect(configMapGenerator[0].files).to.have.members(descriptors);
  });

  it('has the types of Kubernetes, without unknown members', () => {
    const folder = mkdtempSync(join(resolve('dist'), 'kubernetes-'));
    try {
      const typed = manifests.filter(({ kind }: Resource) => kind in TYPES);
      expect(typed).to.have.length(Object.keys(TYPES).length);
      const lines = typed.map(({ kind, ...rest }: Resource, index: number) => {
        const type = `import('kubernetes-types/${TYPES[kind]}.js').${kind}`;
        return `export const resource${index}: ${type} = ${JSON.stringify({ kind, ...rest })};`;
      });
      const file = join(folder, 'resources.ts');
      writeFileSync(file, lines.join('\n'));
      const tsc = join(
        dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
        'bin/tsc',
      );
      const flags = [
        '--noEmit',
        '--strict',
        '--module',
        'nodenext',
        '--ignoreConfig',
        '--types',
        '',
      ];
      const { stdout } = spawnSync(process.execPath, [tsc, ...flags, file], { encoding: 'utf8' });
      expect(stdout).to.equal('');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('sets variables and flags that the host has', async () => {
    const { spec }: Deployment = parse(read(`${KUBERNETES}/deployment.yaml`));
    const [container] = spec.template.spec.containers;
    const names = container?.env.map(({ name }) => [name, '']) ?? [];
    expect(findUnknownVariables(Object.fromEntries(names))).to.deep.equal([]);
    expect(container?.args).to.deep.equal([
      'serve',
      '--tokens',
      '/etc/modgate/secrets/tokens.yaml',
    ]);
    // The variables of a Service named modgate would be settings.
    expect(spec.template.spec.enableServiceLinks).to.equal(false);
  });

  it('has descriptors that pass modgate check', async () => {
    const { code, stdout } = await runModgate(['check', `${KUBERNETES}/modules.d`]);
    expect(code, stdout).to.equal(0);
  });
});

describe('deploy/modgate.service', () => {
  it('is a valid unit that exposes little', function () {
    const file = 'deploy/modgate.service';
    const verified = runOrSkip(this, 'systemd', 'systemd-analyze', ['verify', file]);
    expect(verified).to.deep.equal({ status: 0, output: '' });
    const { output } = runOrSkip(this, 'systemd', 'systemd-analyze', [
      ...['security', '--offline=true', '--no-pager', file],
    ]);
    const [, exposure = ''] =
      /Overall exposure level for modgate\.service: ([\d.]+)/.exec(output) ?? [];
    expect(Number(exposure)).to.be.within(0.1, MAX_EXPOSURE);
  });
});

describe('deploy/haproxy.cfg', () => {
  it('is valid', function () {
    const { status, output } = runOrSkip(this, 'haproxy', 'haproxy', [
      '-c',
      '-f',
      'deploy/haproxy.cfg',
    ]);
    expect(status, output).to.equal(0);
  });
});

describe('deploy/nginx.conf', () => {
  const folder = createFolder();

  it('is valid', function () {
    const file = join(folder, 'valid.conf');
    writeFileSync(file, describeNginx(folder, `include ${resolve('deploy/nginx.conf')};`));
    const args = ['-t', '-e', `${folder}/error.log`, '-c', file];
    const { status, output } = runOrSkip(this, 'nginx-light', 'nginx', args);
    expect(status, output).to.equal(0);
  });

  it('carries calls and WebSockets', async function () {
    runOrSkip(this, 'nginx-light', 'nginx', ['-v']);
    const provider = await startProvider(answerJson({ id: 7 }), { onUpgrade: echoMessages });
    const sha256 = createHash('sha256').update('chat').digest('hex');
    const host = await startHost({
      // Development tokens never count behind a proxy.
      dev: false,
      tokens: { tokens: [{ id: 'chat', kind: 'service', scopes: ['chat.use'], sha256 }] },
      files: { 'chat.json': describeModule('chat', provider.url, ROUTES) },
    });
    const port = await findFreePort();
    const http = read('deploy/nginx.conf')
      .replace('server 10.0.0.1:3000', `server 127.0.0.1:${host.port}`)
      .replace(/ {2}server 10\.0\.0\.[23]:3000.*\n/g, '')
      .replace('listen 3000', `listen 127.0.0.1:${port}`);
    const nginx = startNginx(folder, http);
    try {
      const url = `127.0.0.1:${port}/modules/chat/http`;
      const headers = { authorization: 'Bearer chat' };
      const get = () => fetch(`http://${url}/items`, { headers });
      await waitUntil('nginx', () =>
        get().then(
          ({ ok }) => ok,
          () => false,
        ),
      );
      const client = new WebSocket(`ws://${url}/socket`, { headers });
      client.on('open', () => client.send('hello'));
      const [data] = await once(client, 'message');
      expect(String(data)).to.equal('hello');
      client.close();
      await once(client, 'close');
    } finally {
      nginx.kill();
      await Promise.all([once(nginx, 'exit'), host.stop(), provider.stop()]);
    }
  });
});

describe('deploy', () => {
  it('has no credential that everybody knows', () => {
    const files = readdirSync('deploy', { recursive: true, encoding: 'utf8' })
      .map((name) => join('deploy', name))
      .filter((name) => statSync(name).isFile());
    expect(files).to.include('deploy/compose.yaml');
    for (const file of files) {
      const text = read(file).replaceAll(/^ *#.*$/gm, '');
      for (const [found, value = ''] of text.matchAll(
        /(?:password|passwd|secret|token|api_?key)["']? *[:=] *["']?([\w$/][^\s,"'}]*)/gi,
      )) {
        expect(value, `${file}: ${found}`).to.match(/^(?:\$|\/|false$)/);
      }
      for (const [found, password] of text.matchAll(/:\/\/[^\s:/@]+:([^\s@]+)@/g)) {
        expect(password, `${file}: ${found}`).to.match(/^\$/);
      }
    }
  });
});

describe('deploy/compose.yaml', () => {
  it('sets variables that the host has, and starts hosts of one fleet', () => {
    const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as {
      services: Record<string, { environment?: Record<string, string> }>;
    };
    for (const name of ['a', 'b']) {
      const environment = services[name]?.environment ?? {};
      expect(findUnknownVariables(environment)).to.deep.equal([]);
      expect(environment).to.include({ MODGATE_FLEET: 'shop' });
    }
  });
});

describe('deploy/Containerfile', () => {
  it('sets variables that the host has, and starts it as another user than root', () => {
    const text = read('deploy/Containerfile');
    const names = [...text.matchAll(/MODGATE_[A-Z_]+/g)].map(([name]) => [name, '']);
    expect(names.length).to.be.above(3);
    expect(findUnknownVariables(Object.fromEntries(names))).to.deep.equal([]);
    expect(text).to.match(/^USER 1000:1000$/m);
  });
});
