import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { findFreePort } from '../support/free-port.js';
import { ROOT } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { startNginx } from '../support/nginx.js';
import { type HostProcess, startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';

const run = promisify(execFile);
const AUTHORIZATION = `Bearer ${ROOT}`;
const BYTES = Buffer.alloc(3_000_000, 'the bytes of a file, ');
const START_DEADLINE_MS = 10_000;

/** Clients and servers of others, at the versions of this test. */
const PACKAGES = [
  'tus-js-client@4.3.1',
  '@tus/server@2.4.5',
  '@tus/file-store@2.1.1',
  'better-sse@0.16.1',
  'eventsource@4.1.1',
];
const LOADER = `
export { Upload } from 'tus-js-client';
export { Server } from '@tus/server';
export { FileStore } from '@tus/file-store';
export { createSession } from 'better-sse';
export { EventSource } from 'eventsource';
`;

interface Upload {
  url: string | null;
  start(): void;
  abort(): Promise<void>;
}

interface UploadOptions {
  readonly endpoint?: string;
  readonly uploadUrl?: string;
  readonly chunkSize: number;
  readonly retryDelays: readonly number[];
  readonly headers: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly onError: (error: Error) => void;
  readonly onSuccess: () => void;
  readonly onChunkComplete?: (size: number, accepted: number) => void;
}

interface ReceivedEvent {
  readonly data: string;
  readonly lastEventId: string;
}

interface EventSource {
  addEventListener(type: string, listener: (event: ReceivedEvent) => void): void;
  close(): void;
}

interface Session {
  readonly lastId: string;
  push(data: unknown, name: string, id: string): void;
}

/** The parts of the packages that are used. */
interface Packages {
  readonly Upload: new (file: Buffer, options: UploadOptions) => Upload;
  readonly Server: new (options: object) => { handle: RequestListener };
  readonly FileStore: new (options: { readonly directory: string }) => object;
  readonly createSession: (...exchange: Parameters<RequestListener>) => Promise<Session>;
  readonly EventSource: new (
    url: string,
    options: { readonly fetch: (url: string | URL, init: RequestInit) => Promise<Response> },
  ) => EventSource;
}

const route = (method: string, path: string, operation: object) => ({
  ...{ method, path, operation },
  capability: 'files.use',
});
const FILES = [route('GET', '/{name...}', { response: 'bytes' })];
const UPLOADS = [
  { method: 'POST', path: '/files', capability: 'files.use', operation: { body: 'optional' } },
  route('PATCH', '/files/{id}', { body: 'bytes' }),
  route('GET', '/files/{id}', { response: 'bytes' }),
];
const EVENTS = [route('GET', '/events', { stream: 'sse' })];
const TUS_HEADERS = ['tus-resumable', 'upload-length', 'upload-offset', 'upload-metadata'];

/** A host process in front of one module. */
async function startFor(url: string, routes: object[], overrides: object): Promise<HostProcess> {
  const module = describeModule(
    'real',
    url,
    routes as Parameters<typeof describeModule>[2],
    overrides,
  );
  return startHostProcess({ files: { 'real.json': module } });
}

describe('curl that continues a download of nginx', () => {
  let folder: string;
  let nginx: ChildProcess | undefined;
  let host: HostProcess | undefined;

  before(async function () {
    for (const command of ['nginx', 'curl']) {
      const isMissing = await run('which', [command]).then(
        () => false,
        () => true,
      );
      if (isMissing && process.env['CI'] === 'true') throw new Error(`no ${command}`);
      if (isMissing) return this.skip();
    }
    folder = createFolder();
    mkdirSync(join(folder, 'files'));
    writeFileSync(join(folder, 'files', 'a.bin'), BYTES);
    const port = await findFreePort();
    nginx = startNginx(folder, `server { listen 127.0.0.1:${port}; root ${folder}/files; }`);
    const url = `http://127.0.0.1:${port}`;
    const isUp = () =>
      fetch(url).then(
        () => true,
        () => false,
      );
    await waitUntil('nginx', isUp, START_DEADLINE_MS);
    host = await startFor(url, FILES, {});
  });

  after(async () => {
    await host?.stop();
    if (nginx?.kill()) await once(nginx, 'close');
  });

  it('gets the same bytes', async () => {
    const target = join(folder, 'part.bin');
    writeFileSync(target, BYTES.subarray(0, 1_000_000));
    const url = `${host?.url}/modules/real/http/a.bin`;
    const options = ['-fsS', '-H', `authorization: ${AUTHORIZATION}`];
    const format = ['-w', '%{http_code} %{size_download}'];
    const { stdout } = await run('curl', [...options, ...format, '-C', '-', '-o', target, url]);
    expect(stdout).to.equal('206 2000000');
    expect(readFileSync(target).equals(BYTES)).to.equal(true);
    const { stdout: head } = await run('curl', [...options, '-I', url]);
    expect(head).to.match(/^content-length: 3000000\r$/m);
    expect(head).to.match(/^accept-ranges: bytes\r$/m);
    const beyond = run('curl', [...options, '-r', '4000000-', '-o', target, url]);
    expect(String(await beyond.catch((error: Error) => error))).to.contain('416');
  });
});

describe('clients and servers of npm', () => {
  let folder: string;
  let packages: Packages;
  let host: HostProcess | undefined;
  let provider: Server | undefined;

  before(async function () {
    folder = createFolder();
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    writeFileSync(join(folder, 'load.mjs'), LOADER);
    const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
    try {
      await run('npm', ['install', ...flags, ...PACKAGES], { cwd: folder });
    } catch (error) {
      if (process.env['CI'] === 'true') throw error;
      process.stderr.write('    skipped: npm does not reach its registry\n');
      return this.skip();
    }
    packages = (await import(pathToFileURL(join(folder, 'load.mjs')).href)) as Packages;
  });

  afterEach(async () => {
    await host?.stop();
    provider?.closeAllConnections();
    provider?.close();
  });

  const serve = async (listener: RequestListener): Promise<string> => {
    provider = createServer(listener);
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    return `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  };

  it('tus-js-client uploads to @tus/server, and continues after a break', async () => {
    const directory = join(folder, 'uploads');
    mkdirSync(directory);
    const datastore = new packages.FileStore({ directory });
    const tus = new packages.Server({ path: '/files', datastore });
    const url = await serve((request, response) => void tus.handle(request, response));
    host = await startFor(url, UPLOADS, {
      forward_headers: TUS_HEADERS,
      responses: { mode: 'raw', expose_headers: [...TUS_HEADERS, 'upload-expires', 'location'] },
    });
    const common = {
      chunkSize: 500_000,
      retryDelays: [],
      headers: { authorization: AUTHORIZATION },
      metadata: { filename: 'a.bin' },
    };
    const endpoint = `${host.url}/modules/real/http/files`;
    const uploadUrl = await new Promise<string>((resolve, reject) => {
      const upload = new packages.Upload(BYTES, {
        ...common,
        endpoint,
        onError: reject,
        onSuccess: () => reject(new Error('it was not broken off')),
        onChunkComplete: () => void upload.abort().then(() => resolve(upload.url ?? ''), reject),
      });
      upload.start();
    });
    expect(uploadUrl.startsWith(`${endpoint}/`)).to.equal(true);
    const accepted: number[] = [];
    await new Promise<void>((resolve, reject) => {
      new packages.Upload(BYTES, {
        ...common,
        uploadUrl,
        onError: reject,
        onSuccess: resolve,
        onChunkComplete: (_size, total) => accepted.push(total),
      }).start();
    });
    expect(accepted[0]).to.be.above(500_000);
    expect(accepted.at(-1)).to.equal(BYTES.length);
    const stored = readdirSync(directory).find((name) => !name.endsWith('.json')) ?? '';
    expect(readFileSync(join(directory, stored)).equals(BYTES)).to.equal(true);
    const headers = { authorization: AUTHORIZATION };
    const response = await fetch(uploadUrl, { headers });
    expect(Buffer.from(await response.arrayBuffer()).equals(BYTES)).to.equal(true);
  });

  for (const mode of ['envelope', 'raw']) {
    it(`EventSource reads better-sse and connects again, in ${mode} mode`, async () => {
      const url = await serve(async (request, response) => {
        const session = await packages.createSession(request, response);
        const next = Number(session.lastId || 0) + 1;
        session.push({ number: next }, 'tick', String(next));
        // The second connection stays open.
        if (next === 1) response.end();
      });
      host = await startFor(url, EVENTS, { responses: { mode } });
      const source = new packages.EventSource(`${host.url}/modules/real/http/events`, {
        fetch: (target, init) =>
          fetch(target, {
            ...init,
            headers: { ...(init.headers as object), authorization: AUTHORIZATION },
          }),
      });
      const events: string[] = [];
      for (const type of ['modgate.open', 'modgate.end', 'tick']) {
        source.addEventListener(type, ({ data, lastEventId }) => {
          events.push(type === 'tick' ? `${lastEventId} ${data}` : type);
        });
      }
      await waitUntil('the second event', () => events.at(-1) === '2 {"number":2}', 20_000);
      source.close();
      const hostEvents = (...types: string[]) => (mode === 'raw' ? [] : types);
      expect(events).to.deep.equal([
        ...hostEvents('modgate.open'),
        '1 {"number":1}',
        ...hostEvents('modgate.end', 'modgate.open'),
        '2 {"number":2}',
      ]);
    });
  }
});
