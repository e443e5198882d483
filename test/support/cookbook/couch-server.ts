import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createRequire } from 'node:module';

/** The part of PouchDB that the tests use; its packages come without types. */
export interface PouchDatabase {
  bulkDocs(documents: readonly object[]): Promise<readonly object[]>;
  allDocs(options?: object): Promise<{ readonly rows: readonly { readonly doc?: object }[] }>;
  put(document: object): Promise<{ readonly rev: string }>;
  get(id: string, options?: object): Promise<Record<string, unknown>>;
  putAttachment(id: string, name: string, rev: string, data: Buffer, type: string): Promise<object>;
  getAttachment(id: string, name: string): Promise<unknown>;
  readonly replicate: {
    to(target: PouchDatabase): Promise<Replication>;
    from(source: PouchDatabase): Promise<Replication>;
  };
}

interface Replication {
  readonly ok: boolean;
  readonly docs_written: number;
}

export interface Pouch {
  new (name: string, options?: object): PouchDatabase;
  plugin(plugin: unknown): Pouch;
  defaults(options: object): Pouch;
  fetch(url: string, options: RequestInit): Promise<Response>;
}

export interface CouchServer {
  readonly port: number;
  /** PouchDB of a client, which keeps its databases in memory. */
  readonly Client: Pouch;
  /** A database of the server itself. */
  open(name: string): PouchDatabase;
  /** A database that only the client has. */
  openLocal(name: string): PouchDatabase;
  /** A database behind a URL. */
  openRemote(url: string, token: string): PouchDatabase;
  stop(): Promise<void>;
}

const require = createRequire(import.meta.url);

/** A CouchDB-compatible server in memory (express-pouchdb), and PouchDB to replicate with it. */
export async function startCouchServer(): Promise<CouchServer> {
  const plugins = ['adapter-memory', 'adapter-http', 'replication', 'mapreduce'];
  const core = require('pouchdb-core') as Pouch;
  const Pouch = plugins.reduce((pouch, name) => pouch.plugin(require(`pouchdb-${name}`)), core);
  const Stored = Pouch.defaults({ adapter: 'memory', prefix: 'server-' });
  const server = createServer(createCouchApp(Stored));
  const port = await listen(server);
  return {
    port,
    Client: Pouch,
    open: (name) => new Stored(name),
    openLocal: (name) => new Pouch(name, { adapter: 'memory' }),
    openRemote: (url, token) =>
      new Pouch(url, {
        adapter: 'http',
        skip_setup: true,
        fetch: (target: string, options: RequestInit) => {
          (options.headers as Headers).set('authorization', `Bearer ${token}`);
          return Pouch.fetch(target, options);
        },
      }),
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function createCouchApp(stored: Pouch): RequestListener {
  const createApp = require('express-pouchdb') as (
    pouch: Pouch,
    options: object,
  ) => RequestListener;
  // Without a log file and a configuration file.
  return createApp(stored, {
    mode: 'minimumForPouchDB',
    inMemoryConfig: true,
    logPath: '/dev/null',
  });
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
