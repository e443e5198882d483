import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ImporterSubject, RunningSource } from '../../../core/testkit/index.js';
import { grpcAdapter } from '../../../plugins/grpc/grpc-adapter.js';
import { grpcImporter } from '../../../plugins/grpc/grpc-importer.js';
import { mcpImporter } from '../../../plugins/mcp-client/importer.js';
import { mcpAdapter } from '../../../plugins/mcp-client/mcp-adapter.js';
import { LIBRARY_SET, startLibrary } from '../../plugins/grpc/library-server.js';
import { findFreePort } from '../free-port.js';
import { serveFetch, startMcpServer, type TestTool } from '../mcp/mcp-server.js';
import { startSilentServer } from './silent-server.js';

const STDIO_SERVER = fileURLToPath(new URL('../mcp/stdio-server.js', import.meta.url));
const CREDENTIALS = {
  options: { auth: 'bearer=env:TOKEN' },
  references: { secrets: { 'env:TOKEN': 'a-token-for-tests' } },
} as const;
/** Streams of requests of `library.proto`. */
const STREAMS = ['Upload', 'Chat'];

const SHELF = `syntax = "proto3";
package shelf.v1;
message Book { string name = 1; }
service Shelf {
  rpc Get(Book) returns (Book);
  rpc Upload(stream Book) returns (Book);
  rpc Chat(stream Book) returns (stream Book);
}
`;

async function startReflection(): Promise<RunningSource> {
  const server = await startLibrary({}, { reflection: { version: 'v1' } });
  const without = await startLibrary({});
  const silent = await startSilentServer();
  return {
    source: [`127.0.0.1:${server.port}`],
    ...CREDENTIALS,
    leftOut: STREAMS,
    unusable: {
      'an address without a server': [`127.0.0.1:${await findFreePort()}`],
      'a server without reflection': [`127.0.0.1:${without.port}`],
      'a word that is no address': ['library'],
    },
    silent: [{ source: [silent.address], isWaiting: () => silent.isWaiting() }],
    stop: async () => {
      await Promise.all([server.stop(), without.stop(), silent.stop()]);
    },
  };
}

/** Files of a folder that is removed at the end. */
async function startFile(name: string, content: string | Uint8Array): Promise<RunningSource> {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-importer-'));
  const write = (file: string, text: string | Uint8Array) => {
    writeFileSync(join(folder, file), text);
    return [join(folder, file)];
  };
  return {
    source: write(name, content),
    endpoint: 'grpc://127.0.0.1:4100',
    leftOut: STREAMS,
    unusable: {
      'a file that does not exist': [join(folder, `no-${name}`)],
      'another format': write(`other-${name}`, '<html>\n<body>not found</body>\n</html>\n'),
      'an empty file': write(`empty-${name}`, ''),
    },
    stop: async () => rmSync(folder, { recursive: true }),
  };
}

const grpc = [
  startReflection,
  () => startFile('library.binpb', readFileSync(LIBRARY_SET)),
  () => startFile('shelf.proto', SHELF),
].map((start): ImporterSubject => ({ importer: grpcImporter, adapter: grpcAdapter, start }));

const TOOLS: readonly TestTool[] = [
  {
    name: 'find',
    title: 'Find',
    inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
    outputSchema: { type: 'object', properties: { hits: { type: 'array' } } },
    annotations: { readOnlyHint: true },
  },
  { name: 'a/b ä' },
  {
    name: 'odd headers',
    inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } },
  },
];

/** A server that answers everything but this method. */
async function startSilentAt(method: string, url: string) {
  let isWaiting = false;
  const gate = await serveFetch(async (request) => {
    const { method: verb, headers } = request;
    const body = await request.text();
    if (body.includes(`"${method}"`)) {
      isWaiting = true;
      await new Promise(() => {});
    }
    headers.delete('content-length');
    return fetch(url, { method: verb, headers, ...(body !== '' && { body }) });
  });
  return { source: [gate.url], isWaiting: () => isWaiting, stop: () => gate.stop() };
}

async function startHttp(): Promise<RunningSource> {
  const server = await startMcpServer(() => TOOLS, { resources: { 'file:///a': { text: 'a' } } });
  const page = await serveFetch(
    async () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
  );
  const silent = await startSilentServer();
  const lists = await startSilentAt('tools/list', server.url);
  return {
    source: [server.url],
    ...CREDENTIALS,
    leftOut: ['odd headers'],
    unusable: {
      'an address without a server': [`http://127.0.0.1:${await findFreePort()}/mcp`],
      'a page': [page.url],
    },
    silent: [
      { source: [`http://${silent.address}/mcp`], isWaiting: () => silent.isWaiting() },
      lists,
    ],
    stop: async () => {
      await Promise.all([server.stop(), page.stop(), silent.stop(), lists.stop()]);
    },
  };
}

const startStdio = async (): Promise<RunningSource> => ({
  source: [process.execPath, STDIO_SERVER],
  unusable: {
    'a command that does not exist': ['modgate-no-such-command'],
    'a command that is no server': [process.execPath, '-e', 'console.log("hello")'],
  },
});

const mcp = [startHttp, startStdio].map(
  (start): ImporterSubject => ({ importer: mcpImporter, adapter: mcpAdapter, start }),
);

/** All importers of shipped plugins, over each form of source. */
export const SHIPPED_IMPORTERS: readonly ImporterSubject[] = [...grpc, ...mcp];
