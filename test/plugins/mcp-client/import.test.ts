import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { startToolServer } from '../../attacks/servers/tool-server.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { serveFetch, startMcpServer, type TestTool } from '../../support/mcp/mcp-server.js';
import { openHost } from '../../support/open-host.js';
import { use, useEach } from '../../support/use.js';

const STDIO_SERVER = fileURLToPath(new URL('../../support/mcp/stdio-server.js', import.meta.url));

const READ: TestTool = {
  name: 'find',
  title: 'Find',
  description: 'Finds notes.\nIn all folders.',
  inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
  outputSchema: {
    type: 'object',
    properties: { hits: { $ref: '#/$defs/hits' } },
    $defs: { hits: { type: 'array', items: { type: 'string' } } },
  },
  annotations: { readOnlyHint: true },
  call: ({ q }) => ({
    content: [{ type: 'text', text: `${q}!` }],
    structuredContent: { hits: [] },
  }),
};
const SAFE: TestTool = {
  name: 'append',
  annotations: { destructiveHint: false, idempotentHint: true },
};
const PLAIN: TestTool = { name: 'wipe' };
const ODD: TestTool = { name: 'a/b ä', call: () => ({ content: [{ type: 'text', text: 'odd' }] }) };

interface Route {
  readonly path: string;
  readonly capability: string;
  readonly summary?: string;
  readonly description?: string;
  // biome-ignore lint/suspicious/noExplicitAny: any member of an operation
  readonly operation: any;
}

describe('modgate import mcp', () => {
  let tools: readonly TestTool[] = [];

  const server = use(() =>
    startMcpServer(() => tools, { resources: { 'file:///a': { text: 'a' } } }),
  );
  const place = useEach(() => {
    tools = [READ, SAFE, PLAIN, ODD];
    return createWorkplace();
  });

  const run = (...args: string[]) => place.run(['import', 'mcp', '--module', 'notes', ...args]);

  const readManifest = (): { capabilities: string[]; http_routes: Route[] } =>
    JSON.parse(readFileSync(join(place.folder, 'modules.d/notes/manifest.json'), 'utf8'));

  it('writes a route for each tool, and one for resources', async () => {
    const { code, stderr } = await run(server.url);
    expect([code, stderr]).to.deep.equal([0, '']);
    const { capabilities, http_routes: routes } = readManifest();
    expect(capabilities).to.deep.equal(['notes.read', 'notes.write']);
    const [find, append, wipe, odd, resources] = routes;
    expect(find).to.deep.include({
      method: 'POST',
      path: '/tools/find',
      capability: 'notes.read',
      summary: 'Find',
      description: READ.description,
    });
    expect(find?.operation).to.deep.include({
      operation_id: 'find',
      idempotency: 'idempotent',
      danger_level: 'low',
      reads: true,
      input_schema: READ.inputSchema,
    });
    expect(find?.operation).to.not.have.property('body');
    expect(append?.operation).to.include({ idempotency: 'idempotent', danger_level: 'medium' });
    expect(wipe?.operation).to.include({ danger_level: 'high', body: 'optional' });
    expect(wipe?.operation).to.not.have.any.keys('idempotency', 'reads');
    expect(odd?.path).to.match(/^\/tools\/a_b_-[0-9a-f]{8}$/);
    expect(odd?.operation.mcp.tool).to.equal('a/b ä');
    expect(resources).to.deep.include({ path: '/resources/{uri}', capability: 'notes.read' });
  });

  it('leaves out a tool whose arguments declare headers wrongly', async () => {
    const wrong = { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } };
    tools = [READ, { name: 'odd', inputSchema: wrong }];
    const { code, stdout } = await run(server.url);
    expect(code).to.equal(0);
    expect(stdout).to.include('2 of 3 operations').and.include('wrong x-mcp-header (odd)');
    expect(readManifest().http_routes.map(({ path }) => path)).to.not.include('/tools/odd');
  });

  it('leaves out two tools with one name, and lists a repeated one once', async () => {
    tools = [READ, READ, SAFE, { ...SAFE, title: 'Other' }];
    const { code, stdout } = await run(server.url);
    expect(code, stdout).to.equal(0);
    expect(stdout).to.include('2 of 3 operations').and.include('two tools of this name (append)');
    expect(readManifest().http_routes.map(({ path }) => path)).to.deep.equal([
      '/tools/find',
      '/resources/{uri}',
    ]);
  });

  it('writes files of which check does not warn', async () => {
    await run(server.url);
    const { stdout } = await place.run(['check', '--json']);
    expect(JSON.parse(stdout).findings).to.deep.equal([]);
  });

  it('leaves out tools that no manifest can hold', async () => {
    const nest = (levels: number): object => (levels === 0 ? {} : { a: nest(levels - 1) });
    const deep = (levels: number) => ({ type: 'object', default: nest(levels) });
    tools = [
      READ,
      { name: '', inputSchema: { type: 'object' } },
      { name: 'x'.repeat(1_025), inputSchema: { type: 'object' } },
      { name: 'too-deep', inputSchema: deep(100) },
      { name: 'deep', inputSchema: deep(80) },
    ];
    const { code, stdout } = await run(server.url);
    expect(code, stdout).to.equal(0);
    expect(stdout).to.include('3 of 6 operations').and.include('levels (too-deep)');
  });

  it('leaves out a tool that is nested too deep', async () => {
    const hostile = await startToolServer();
    try {
      const { code, stdout } = await run(hostile.url);
      expect(code).to.equal(0);
      expect(stdout).to.include('3 of 4 operations').and.include('90 levels (deep)');
    } finally {
      await hostile.stop();
    }
  });

  it('writes files with which a host calls the tools', async () => {
    expect((await run(server.url)).code).to.equal(0);
    const host = await openHost([
      ...['serve', '--env', 'development', '--port', '0', '--state', join(place.folder, 'state')],
      ...['--modules', join(place.folder, 'modules.d')],
    ]);
    try {
      const call = async (path: string, body: object) => {
        const response = await fetch(`${host.url}/modules/notes/http${path}`, {
          method: 'POST',
          headers: {
            authorization: 'Bearer dev-service:test:notes.read,notes.write',
            'content-type': 'application/json',
          },
          body: JSON.stringify(body),
        });
        // biome-ignore lint/suspicious/noExplicitAny: the envelope or a Problem
        const { data }: any = await response.json();
        return [response.status, data?.content[0].text];
      };
      expect(await call('/tools/find', { q: 'a' })).to.deep.equal([200, 'a!']);
      expect(await call('/tools/find', { q: 1 })).to.deep.equal([400, undefined]);
      const [, , , odd] = readManifest().http_routes;
      expect(await call(odd?.path ?? '', {})).to.deep.equal([200, 'odd']);
    } finally {
      await host.stop();
    }
  });

  it('gives each tool a capability with --capabilities each', async () => {
    await run(server.url, '--capabilities', 'each');
    const { http_routes: routes } = readManifest();
    expect(routes.map(({ capability }) => capability).slice(0, 3)).to.deep.equal([
      'notes.find',
      'notes.append',
      'notes.wipe',
    ]);
  });

  it('exits with 1 for a changed tool with --check, and pins it anew with --write', async () => {
    await run(server.url);
    expect((await run(server.url, '--check')).code).to.equal(0);
    const digest = () => readManifest().http_routes[0]?.operation.mcp.digest;
    const before = digest();
    tools = [{ ...READ, inputSchema: { type: 'object', required: ['query'] } }, SAFE, PLAIN, ODD];
    expect((await run(server.url, '--check')).code).to.equal(1);
    expect(digest()).to.equal(before);
    expect((await run(server.url, '--write')).code).to.equal(0);
    expect(digest()).to.not.equal(before);
  });

  it('imports a command', async () => {
    const { code, stdout } = await run('--', process.execPath, STDIO_SERVER);
    expect([code, stdout]).to.satisfy(([status]: [number]) => status === 0, stdout);
    const { http_routes: routes } = readManifest();
    expect(routes.map(({ path }) => path)).to.include('/tools/pid');
    const descriptor = readFileSync(join(place.folder, 'modules.d/notes.yaml'), 'utf8');
    expect(descriptor).to.include('cwd: ..');
  });

  it('writes a reference to credentials, never their value', async () => {
    const { code } = await place.run(
      ['import', 'mcp', '--module', 'notes', server.url, '--auth', 'bearer=env:NOTES_TOKEN'],
      { NOTES_TOKEN: 'secret-of-notes' },
    );
    expect(code).to.equal(0);
    const descriptor = readFileSync(join(place.folder, 'modules.d/notes.yaml'), 'utf8');
    expect(descriptor).to.include('bearer: env:NOTES_TOKEN').and.not.include('secret-of-notes');
    expect(server.requests.at(-1)?.headers.authorization).to.equal('Bearer secret-of-notes');
  });

  it('reads credentials from a file of the command line', async () => {
    writeFileSync(join(place.folder, 'key'), 'secret-of-a-file');
    expect((await run(server.url, '--auth', 'bearer=file:key')).code).to.equal(0);
    const descriptor = readFileSync(join(place.folder, 'modules.d/notes.yaml'), 'utf8');
    expect(descriptor).to.include('bearer: file:../key');
    expect(server.requests.at(-1)?.headers.authorization).to.equal('Bearer secret-of-a-file');
  });

  it('passes variables to a command, and writes secrets as references alone', async () => {
    writeFileSync(join(place.folder, 'key'), 'secret-of-a-file');
    mkdirSync(join(place.folder, 'tools'));
    const { code, stdout, stderr } = await place.run(
      [
        ...['import', 'mcp', '--module', 'notes', '--cwd', 'tools', '--env', 'KEYBOARD=a=b'],
        ...['--env', 'NOTES_TOKEN=env:OUTER', '--env', 'NOTES_KEY=file:key'],
        ...['--', process.execPath, STDIO_SERVER, 'printing'],
      ],
      { OUTER: 'secret-of-the-environment' },
    );
    expect(code, stdout + stderr).to.equal(0);
    const descriptor = readFileSync(join(place.folder, 'modules.d/notes.yaml'), 'utf8');
    expect(descriptor)
      .to.match(/^ +cwd: \.\.\/tools$/m)
      .and.match(/^ +KEYBOARD: a=b$/m);
    expect(descriptor).to.match(/^ +NOTES_TOKEN: env:OUTER$/m);
    expect(descriptor).to.match(/^ +NOTES_KEY: file:\.\.\/key$/m);
    // The server prints its environment.
    expect(stdout + stderr)
      .to.include('NOTES_TOKEN')
      .and.not.include('secret-of');
    expect(descriptor + JSON.stringify(readManifest())).to.not.include('secret-of');
  });

  it('rejects a secret in the value of a variable, without printing it', async () => {
    const wrong = [
      'NOTES_TOKEN=abc-value',
      'DATABASE=db://a:abc-value@b',
      'DATABASE=db://a:abc/abc-value@b',
      'ORIGIN=https://abc-value@b',
      'ROOT=file:///abc-value',
      ...['PGPASSWORD', 'SSN', 'REQUEST_SIGNATURE'].map((name) => `${name}=abc-value`),
      'abc-value',
      '=abc-value',
    ];
    for (const text of wrong) {
      const { code, stdout, stderr } = await run(
        '--env',
        text,
        '--',
        process.execPath,
        STDIO_SERVER,
      );
      expect(code, text).to.equal(2);
      expect(stdout + stderr)
        .to.include('--env')
        .and.not.include('abc-value');
    }
    expect((await run(server.url, '--env', 'A=b')).code).to.equal(2);
    expect((await run(server.url, '--cwd', 'a')).code).to.equal(2);
  });

  it('says with which status a server answers, and not with which text', async () => {
    for (const [status, expected] of Object.entries({
      307: 'HTTP status 307, a redirect, which is not followed',
      404: 'HTTP status 404',
    })) {
      const headers = { location: '/mcp/' };
      const other = await serveFetch(
        async () => new Response('a long page', { status: Number(status), headers }),
      );
      const { code, stderr } = await run(other.url);
      await other.stop();
      expect(code).to.equal(1);
      expect(stderr).to.include(`failed: the server answered with ${expected}`);
      expect(stderr).to.not.include('a long page');
    }
  });

  it('exits with 1 when there is no server, and with 2 for wrong usage', async () => {
    const none = await run('http://127.0.0.1:9/mcp');
    expect([none.code, none.stderr]).to.satisfy(([code]: [number]) => code === 1);
    expect((await run(server.url, 'other')).code).to.equal(2);
    expect((await run(server.url, '--auth', 'basic')).code).to.equal(2);
    expect((await run('--auth', 'bearer=env:X', '--', 'node')).code).to.equal(2);
  });
});
