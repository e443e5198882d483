import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { RawConnection } from '../../core/selftest/raw-http.js';
import { rejectStart } from '../support/cli/reject-start.js';
import { runHere } from '../support/cli/run-here.js';
import { runModgate, runProcess } from '../support/cli/run-modgate.js';
import { call } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { describeWideModule } from '../support/http/modules.js';
import { type Environment, openHost, type RunningModgate } from '../support/open-host.js';
import { type RunningHost, startHost, startModgate } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';

const PACKAGE = new URL('../../../package.json', import.meta.url);
const UNUSED = 'http://127.0.0.1:9';
// A host that waits longer than this for a head is easily blocked.
const SLOW_HEAD_MS = 15_000;

describe('running modgate', () => {
  let directory = '';
  let modules = '';
  let running: RunningModgate | undefined;
  let patient: RunningHost | undefined;
  let halfAHead: RawConnection | undefined;

  before(async () => {
    // Started here and checked by the last test, so that no test waits for it.
    patient = await startHost();
    halfAHead = await RawConnection.open(patient.port);
    halfAHead.write('GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a: ');
    directory = createFolder();
    modules = join(directory, 'modules.d');
    mkdirSync(modules);
    writeFileSync(join(modules, 'wide.json'), JSON.stringify(describeWideModule('wide', UNUSED)));
  });

  afterEach(async () => {
    await running?.kill();
    running = undefined;
  });

  after(async () => {
    halfAHead?.destroy();
    await patient?.stop();
  });

  const base = () => ['serve', '--state', join(directory, 'state')];
  const good = () => [...base(), '--modules', modules, '--port', '0', '--env', 'development'];
  const write = (name: string, text: string) => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const start = async (args: readonly string[], env?: Environment) => {
    running = await openHost(args, env);
    return running;
  };
  /** The module `wide` answers 502 if the settings apply: its provider is down. */
  const expectServesWide = async (host: RunningModgate) => {
    const response = await call(host, { target: '/modules/wide/http/a' });
    expect(response.status, response.body.toString()).to.equal(502);
  };

  it('logs one JSON line with listening and the url', async () => {
    const host = await start(good());
    const lines = host.logs().filter((line) => line['msg'] === 'listening');
    expect(lines).to.have.length(1);
    expect(lines[0]?.['url']).to.match(/^http:\/\/127\.0\.0\.1:[1-9]\d*\/?$/);
    expect(Date.parse(String(lines[0]?.['time']))).to.be.greaterThan(0);
    expect((await fetch(new URL('/livez', host.url))).status).to.equal(200);
  });

  it('serves all modules when it logs listening', async () => {
    await expectServesWide(await start(good()));
  });

  it('listens on loopback only without --host', async () => {
    const host = await start(good());
    expect(new URL(host.url).hostname).to.equal('127.0.0.1');
  });

  it('reads every setting from the environment', async () => {
    const host = await start(['serve'], {
      MODGATE_MODULES: modules,
      MODGATE_STATE: join(directory, 'state'),
      MODGATE_PORT: '0',
      MODGATE_HOST: '127.0.0.1',
      MODGATE_ENV: 'development',
    });
    await expectServesWide(host);
  });

  it('reads every setting from a file', async () => {
    const state = join(directory, 'state');
    const file = write(
      'all.yaml',
      `modules: ${modules}\nstate: ${state}\nport: 0\nhost: 127.0.0.1\nenv: development\n`,
    );
    await expectServesWide(await start(['serve', '--config', file]));
  });

  it('prefers a flag to the environment, and that to the file', async () => {
    const missing = join(directory, 'missing');
    const file = write('order.yaml', `modules: ${missing}\nport: 1\nenv: production\n`);
    const host = await start([...base(), '--config', file, '--modules', modules], {
      MODGATE_MODULES: missing,
      MODGATE_PORT: '0',
      MODGATE_ENV: 'development',
    });
    await expectServesWide(host);
  });

  it('prefers the file of MODGATE_CONFIG to the defaults', async () => {
    const file = write('env.yaml', `modules: ${modules}\nport: 0\nenv: development\n`);
    await expectServesWide(await start(base(), { MODGATE_CONFIG: file }));
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`exits 0 on ${signal}`, async () => {
      const host = await startModgate(good());
      running = host;
      expect(await host.stop(signal)).to.deep.equal({ code: 0, signal: null });
    });
  }

  it('writes nothing but JSON lines to stdout', async () => {
    const host = await startModgate(good());
    running = host;
    await call(host, { target: '/nothing' });
    await host.stop();
    for (const line of host.logs()) {
      expect(line['level']).to.be.a('string');
      expect(line['msg']).to.be.a('string');
    }
  });

  const expectRejection = async (
    args: readonly string[],
    subject: RegExp,
    env?: Environment,
  ): Promise<string> => {
    const { code, stderr } = await rejectStart(args, env);
    expect(code, stderr).to.equal(2);
    expect(stderr).to.match(subject);
    expect(stderr, 'a stack').not.to.match(/^\s+at /m);
    return stderr;
  };

  it('exits 2 for production without an authenticator', async () => {
    const args = [...base(), '--modules', modules, '--port', '0'];
    await expectRejection(args, /authenticat|token/i);
    await expectRejection([...args, '--env', 'production'], /authenticat|token/i);
    await expectRejection(args, /authenticat|token/i, { MODGATE_ENV: 'production' });
  });

  for (const address of ['0.0.0.0', '::', '192.0.2.1']) {
    it(`exits 2 for dev tokens on ${address}`, async () => {
      await expectRejection([...good(), '--host', address], /loopback|allow-dev-auth-anywhere/);
    });
  }

  it('exits 2 with one line for a port in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const finished = await runProcess([...good(), '--port', `${port}`]);
      expect(finished.code).to.equal(2);
      const naming = `${finished.stderr}${finished.stdout}`
        .split('\n')
        .filter((line) => /in use/.test(line));
      expect(naming).to.have.length(1);
      expect(naming[0]).to.include(`${port}`);
      expect(finished.stderr.trim().split('\n').length).to.be.at.most(1);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('exits 2 for a missing modules directory', async () => {
    const missing = join(directory, 'missing');
    await expectRejection([...base(), '--modules', missing, '--env', 'development'], /missing/);
  });

  it('exits 2 for a modules directory that is a file', async () => {
    const file = write('a-file', 'x');
    await expectRejection([...base(), '--modules', file, '--env', 'development'], /a-file/);
  });

  for (const [title, args, subject] of [
    ['an unknown flag', ['--prot', '1'], /prot/],
    ['a port that is not a number', ['--port', 'http'], /port/],
    ['a port past 65535', ['--port', '70000'], /port/],
    ['a negative port', ['--port=-1'], /port/],
    ['an unknown environment', ['--env', 'staging'], /env/],
    ['a missing config file', ['--config', '/nowhere/modgate.yaml'], /modgate\.yaml/],
    ['a missing tokens file', ['--tokens', '/nowhere/tokens.json'], /tokens/],
    ['an extra argument', ['extra'], /./],
  ] as const) {
    it(`exits 2 for ${title}`, async () => {
      await expectRejection([...good(), ...args], subject);
    });
  }

  for (const [title, text, subject] of [
    ['an unknown key', 'prot: 0\n', /prot/],
    ['a value of the wrong type', 'port: [1]\n', /port/],
    ['a doubled key', 'port: 0\nport: 0\n', /twice|duplicate|unique/i],
    ['invalid YAML', 'port: [\n', /config|line/i],
  ] as const) {
    it(`exits 2 for a config file with ${title}`, async () => {
      const file = write('bad.yaml', text);
      await expectRejection([...good(), '--config', file], subject);
    });
  }

  for (const [title, text] of [
    ['invalid JSON', '{'],
    ['a number instead of a list', '{"tokens": 1}'],
    ['an entry without a digest', '{"tokens": [{"id": "a", "kind": "service", "scopes": []}]}'],
    [
      'a digest in upper case',
      `{"tokens": [{"id": "a", "kind": "service", "scopes": [], "sha256": "${'A'.repeat(64)}"}]}`,
    ],
    [
      'an unknown kind',
      `{"tokens": [{"id": "a", "kind": "robot", "scopes": [], "sha256": "${'a'.repeat(64)}"}]}`,
    ],
    [
      'an invalid actor id',
      `{"tokens": [{"id": "a b", "kind": "service", "scopes": [], "sha256": "${'a'.repeat(64)}"}]}`,
    ],
    [
      'a scope with a comma',
      `{"tokens": [{"id": "a", "kind": "service", "scopes": ["a,b"], "sha256": "${'a'.repeat(64)}"}]}`,
    ],
  ] as const) {
    it(`exits 2 for a tokens file with ${title}, and prints none of it`, async () => {
      const file = write('tokens.json', text);
      const args = [...base(), '--modules', modules, '--port', '0', '--tokens', file];
      expect(await expectRejection(args, /tokens/)).not.to.match(/robot|a b|a,b|[Aa]{64}/);
    });
  }

  it('reads a tokens file in YAML, named by MODGATE_TOKENS', async () => {
    // SHA-256 of `abc` (FIPS 180-4, example 1).
    const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    const text = `tokens:\n  - { id: a, kind: system, scopes: [], sha256: ${digest} }\n`;
    const args = [...base(), '--modules', modules, '--port', '0'];
    const host = await start(args, { MODGATE_TOKENS: write('tokens.yaml', text) });
    const response = await call(host, { target: '/modules/wide/http/a', as: 'abc' });
    expect(response.status).to.equal(502);
  });

  it('exits 2 for an unknown command', async () => {
    const { code, stderr } = await runModgate(['sevre']);
    expect(code).to.equal(2);
    expect(stderr).to.match(/sevre/);
  });

  it('prints the usage for --help and exits 0', async () => {
    const whole = await runModgate(['--help']);
    expect(whole.code).to.equal(0);
    expect(whole.stdout).to.include('serve');
    const serve = await runHere(['serve', '--help']);
    expect(serve.code).to.equal(0);
    for (const flag of ['modules', 'state', 'host', 'port', 'env', 'tokens', 'config']) {
      expect(serve.stdout).to.include(`--${flag}`);
    }
  });

  it('prints the version of the package for --version and exits 0', async () => {
    const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string };
    const finished = await runModgate(['--version']);
    expect(finished.code).to.equal(0);
    expect(finished.stdout.trim()).to.include(version);
  });

  it('answers 408 to an incomplete head and closes', async () => {
    const connection = halfAHead;
    if (connection === undefined) throw new Error('the connection was not opened');
    expectProblem(await connection.readFinal({ deadlineMs: SLOW_HEAD_MS }), 408);
    await connection.closed();
  });
});
