import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { any, object, optional, string } from 'superstruct';
import {
  defineAdapter,
  defineImporter,
  type ImportContext,
  type ImportedModule,
  type Importer,
  type ManifestRoute,
  secretReference,
} from '../../../core/contract/index.js';
import { defineImporterSubject, type ImporterSubject } from '../../../core/testkit/index.js';
import { findFreePort } from '../free-port.js';
import { startSilentServer } from './silent-server.js';

/** JSON escapes its quotes. */
const TOKEN = 'a "token" for tests';

const adapter = defineAdapter({
  kind: 'list',
  config: object({ url: string(), token: optional(secretReference()) }),
  operation: object({ call: string() }),
  supports: {},
  checkManifest: (_manifest, routes) =>
    routes.flatMap(({ declared }, index) =>
      declared.method === 'DELETE'
        ? [{ path: ['http_routes', index, 'method'], message: 'must not be DELETE' }]
        : [],
    ),
  open: () => {
    throw new Error('no clause opens a provider');
  },
});

interface ListOptions {
  readonly auth?: string | undefined;
}

const options = object({ auth: optional(string()) });

/** Reads the list of operations of a server. */
async function readList(url: string, token: string, signal: AbortSignal): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}`, connection: 'close' };
  const response = await fetch(url, { headers, signal }).catch((cause: unknown) => {
    throw new Error(`${url} cannot be reached`, { cause });
  });
  const text = await response.text();
  if (response.status !== 200 || !text.startsWith('[')) throw new Error(`${url} is no list`);
  return JSON.parse(text) as string[];
}

async function read(
  [url = '']: readonly string[],
  { auth }: ListOptions,
  context: ImportContext,
): Promise<ImportedModule> {
  const config = { url, ...(auth !== undefined && { token: auth }) };
  const resolved = await context.resolve('list', config);
  const token = auth === undefined ? '' : resolved.secret(auth).reveal();
  const names = await readList(url, token, context.signal);
  const isCarried = (name: string) => !name.startsWith('stream');
  return {
    provider: { kind: 'list', config },
    replaces: ['url'],
    routes: names.filter(isCarried).map(
      (name): ManifestRoute => ({
        method: 'POST',
        path: `/${name}`,
        operation: {
          input_schema: { $ref: 'manifest:schemas/Input' },
          ...({ list: { call: name } } as object),
        },
      }),
    ),
    schemas: { Input: { type: 'object' } },
    leftOut: names
      .filter((name) => !isCarried(name))
      .map((place) => ({ place, reason: 'streams are not carried' })),
  };
}

const GOOD_IMPORTER = defineImporter<ListOptions>({ name: 'list', options, read });

export const GOOD_IMPORT: ImporterSubject = defineImporterSubject({
  importer: GOOD_IMPORTER,
  adapter,
  start: async () => {
    const server = createServer((request, response) => {
      const isAllowed = request.headers.authorization === `Bearer ${TOKEN}`;
      const list = request.url === '/list' ? '["create","find","stream-all"]' : '<html>';
      response.writeHead(isAllowed ? 200 : 401).end(list);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const silent = await startSilentServer();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return {
      source: [`${url}/list`],
      options: { auth: 'env:TOKEN' },
      references: { secrets: { 'env:TOKEN': TOKEN } },
      leftOut: ['stream-all'],
      unusable: {
        'an address without a server': [`http://127.0.0.1:${await findFreePort()}/list`],
        'another format': [`${url}/page`],
      },
      silent: [{ source: [`http://${silent.address}/list`], isWaiting: () => silent.isWaiting() }],
      stop: async () => {
        server.close();
        await Promise.all([once(server, 'close'), silent.stop()]);
      },
    };
  },
});

interface ImporterMutant {
  readonly clause: string;
  readonly defect: string;
  readonly change: Partial<ImporterSubject>;
}

/** Changes what the importer returns. */
const returning = (
  change: (module: ImportedModule, context: ImportContext) => object,
): Partial<ImporterSubject> => ({
  importer: defineImporter<ListOptions>({
    ...GOOD_IMPORTER,
    read: async (source, given, context) => {
      const module = await read(source, given, context);
      return { ...module, ...change(module, context) };
    },
  }),
});

/** Changes what the importer throws. */
const throwing = (change: (error: Error) => unknown): Partial<ImporterSubject> => ({
  importer: defineImporter<ListOptions>({
    ...GOOD_IMPORTER,
    read: async (source, given, context) => {
      try {
        return await read(source, given, context);
      } catch (error) {
        throw change(error as Error);
      }
    },
  }),
});

const having = (importer: Partial<Importer<ListOptions>>): Partial<ImporterSubject> => ({
  importer: defineImporter<ListOptions>({ ...GOOD_IMPORTER, ...importer }),
});

/** Leaks of the mutants, released after each test. */
export const timers: NodeJS.Timeout[] = [];

let reads = 0;

function countRead(): number {
  reads += 1;
  return reads;
}

export const IMPORTER_MUTANTS: readonly ImporterMutant[] = [
  {
    clause: 'importer.declaration',
    defect: 'has the name of the host own importer',
    change: having({ name: 'openapi' }),
  },
  {
    clause: 'importer.declaration',
    defect: 'was not made by defineImporter',
    change: { importer: { name: 'list', options, read, contract: 1 } },
  },
  {
    clause: 'importer.options',
    defect: 'accepts every option',
    change: having({ options: any() }),
  },
  {
    clause: 'importer.result',
    defect: 'returns no routes',
    change: returning(() => ({ routes: [] })),
  },
  {
    clause: 'importer.result',
    defect: 'returns a text as a file',
    change: returning(() => ({ files: { 'a.txt': 'text' } })),
  },
  {
    clause: 'importer.result',
    defect: 'would overwrite the manifest',
    change: returning(() => ({ files: { 'manifest.json': Buffer.from('{}') } })),
  },
  {
    clause: 'importer.routes',
    defect: 'returns a route twice',
    change: returning(({ routes }) => ({ routes: [...routes, ...routes] })),
  },
  {
    clause: 'importer.schemas',
    defect: 'forgets a schema',
    change: returning(() => ({ schemas: {} })),
  },
  {
    clause: 'importer.provider',
    defect: 'returns a config with a member of its own',
    change: returning(({ provider }) => ({
      provider: { ...provider, config: { ...provider.config, all: true } },
    })),
  },
  {
    clause: 'importer.provider',
    defect: 'returns another kind',
    change: returning(({ provider }) => ({ provider: { ...provider, kind: 'lists' } })),
  },
  {
    clause: 'importer.provider',
    defect: 'replaces what the config does not have',
    change: returning(() => ({ replaces: ['endpoints'] })),
  },
  {
    clause: 'importer.operations',
    defect: 'does not say what a route calls',
    change: returning(({ routes }) => ({
      routes: routes.map((route) => ({ ...route, operation: {} })),
    })),
  },
  {
    clause: 'importer.manifest',
    defect: 'returns a method that the kind does not carry',
    change: returning(({ routes }) => ({
      routes: routes.map((route) => ({ ...route, method: 'DELETE' })),
    })),
  },
  {
    clause: 'importer.again',
    defect: 'counts its reads',
    change: returning(() => ({ version: String(countRead()) })),
  },
  {
    clause: 'importer.again',
    defect: 'returns its routes in another order each time',
    change: returning(({ routes }) => ({
      routes: countRead() % 2 === 0 ? routes : routes.toReversed(),
    })),
  },
  {
    clause: 'importer.left-out',
    defect: 'leaves out a stream silently',
    change: returning(() => ({ leftOut: [] })),
  },
  {
    clause: 'importer.left-out',
    defect: 'gives a reason of two lines',
    change: returning(() => ({ leftOut: [{ place: 'stream-all', reason: 'a\nb' }] })),
  },
  {
    clause: 'importer.unusable',
    defect: 'throws a stack',
    change: throwing((error) => new Error(error.stack)),
  },
  {
    clause: 'importer.unusable',
    defect: 'throws an error without a message',
    change: throwing(() => new Error()),
  },
  {
    clause: 'importer.unusable',
    defect: 'throws a text',
    change: throwing(({ message }) => message),
  },
  {
    clause: 'importer.unusable',
    defect: 'imports an unreachable source without routes',
    change: having({
      read: async (source, given, context) => {
        const nothing = { provider: { kind: 'list', config: {} }, routes: [] };
        return read(source, given, context).catch(() => nothing);
      },
    }),
  },
  {
    clause: 'importer.signal',
    defect: 'does not pass on the signal',
    change: having({
      read: (source, given, context) =>
        read(source, given, { ...context, signal: new AbortController().signal }),
    }),
  },
  {
    clause: 'importer.no-secrets',
    defect: 'writes its token into the descriptor',
    change: returning(({ provider }) => ({
      provider: { ...provider, config: { ...provider.config, token: TOKEN } },
    })),
  },
  {
    clause: 'importer.no-secrets',
    defect: 'writes its token into a file',
    change: returning(() => ({ files: { token: Buffer.from(TOKEN) } })),
  },
  {
    clause: 'importer.no-secrets',
    defect: 'throws its token',
    change: throwing(({ message }) => new Error(`${message} with ${TOKEN}`)),
  },
  {
    clause: 'importer.no-secrets',
    defect: 'logs its token',
    change: returning((_module, { log }) => {
      log.info({}, `read with ${TOKEN}`);
      return {};
    }),
  },
  {
    clause: 'importer.handles',
    defect: 'leaks a timer',
    change: returning(() => {
      timers.push(setInterval(() => {}, 1_000));
      return {};
    }),
  },
];
