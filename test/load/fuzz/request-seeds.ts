import { type AddressInfo, createServer } from 'node:net';
import { ATTACK_CORPUS, runAttacks } from '../../attacks/corpus.js';
import type { Scene } from '../../attacks/scene.js';
import { createTokenIssuer } from '../../attacks/servers/signed-tokens.js';
import { type CorpusBytes, readCorpus, toBytes } from '../../support/http/corpus.js';
import type { ScriptedProvider } from '../../support/provider.js';
import type { Material } from './mutate.js';

/** Longer seeds leave no room for edits. Bytes. */
const MAX_SEED_LENGTH = 20 * 1024;
/**
 * The mark that attributes calls to an attack: it differs in every run. A name starts where no other character
 * of names precedes it, so that a long text of such characters is searched once and not from each of them.
 */
const MARK =
  /(?:x-(?:correlation|request)-id: )?(?<![a-z0-9-])[a-z0-9-]+\.[0-9a-f]{8}-[0-9a-f-]{27}(?:\r\n)?/gi;
/** The token of the host. */
export const TOKEN = 'fuzz-token-of-the-owner';
/** A route of the module that the requests call. */
export const GOOD_TARGET = '/modules/shop/http/items';

const DICTIONARY = [
  ...['\r\n', '\n', '\r', '\r\n\r\n', '\r\n ', '\0', ' ', '\t', ':', ';', ',', '"', '\xff', '%00'],
  ...['GET ', 'POST ', 'PUT ', 'PATCH ', 'DELETE ', 'OPTIONS ', 'TRACE ', 'CONNECT a:1 ', 'PRI * '],
  ...[' HTTP/1.1', ' HTTP/1.0', ' HTTP/2.0', ' HTTP/0.9', 'HTTP/1.1 200 OK\r\n'],
  ...['/', '//', '/../', '/%2e%2e/', '%2f', '%25', '?', '#', '\\', '*', 'http://a@b:1/'],
  ...[
    '/livez',
    '/readyz',
    '/modules',
    '/manifests',
    '/calls',
    '/metrics',
    '/explain?method=GET&target=',
  ],
  ...['/problems/not_found', '/.well-known/jwks.json', '/console-bridge/desk.config', GOOD_TARGET],
  ...['Host: a\r\n', 'Content-Length: 0\r\n', 'Content-Length: 5\r\n', 'Content-Length: -1\r\n'],
  ...[
    'Content-Length: 99999999999999999999\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Expect: 100-continue\r\n',
  ],
  ...[
    'Connection: close\r\n',
    'Connection: keep-alive\r\n',
    'Connection: upgrade\r\nUpgrade: websocket\r\n',
  ],
  ...[
    'Upgrade: h2c\r\nHTTP2-Settings: AA\r\n',
    'Content-Encoding: gzip\r\n',
    'Accept: */*;q=0\r\n',
  ],
  ...[
    'Authorization: Bearer a\r\n',
    'X-Request-Id: \r\n',
    'traceparent: 00-0-0-0\r\n',
    'Trailer: a\r\n',
  ],
  ...[
    'Idempotency-Key: a\r\n',
    'If-Match: *\r\n',
    'Range: bytes=0-\r\n',
    'Content-Type: application/json\r\n',
  ],
  ...[
    '0\r\n\r\n',
    '5\r\nabcde\r\n',
    'ffffffffffffffff\r\n',
    '1;a=b\r\n',
    '{"__proto__":1}',
    '[[[[',
    '1e999',
  ],
  ...[`X-Long: ${'a'.repeat(8000)}\r\n`, 'X-Many: a\r\n'.repeat(300), 'a'.repeat(17_000)],
];

let material: Promise<Material> | undefined;

/**
 * Meaningful requests: those of the corpus, and those that the attacks send to a server that closes every
 * connection. They are created once, because the attacks take many seconds.
 */
export function readRequestMaterial(): Promise<Material> {
  material ??= createRequestMaterial();
  return material;
}

async function createRequestMaterial(): Promise<Material> {
  const corpus = [...readTargets(), ...readBodies(), ...readRaw()].map((text) =>
    Buffer.concat(
      text.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
    ),
  );
  const withToken = corpus.map((bytes) => insertToken(bytes));
  const seeds = [...withToken, ...(await recordAttacks())];
  return { seeds: seeds.filter((seed) => seed.length <= MAX_SEED_LENGTH), dictionary: DICTIONARY };
}

type Parts = readonly (string | Buffer)[];

const HEAD = ' HTTP/1.1\r\nHost: a\r\n';

function readTargets(): Parts[] {
  const names = ['targets-refused', 'targets-either', 'targets-forwarded'];
  const vectors = names.flatMap((name) => readCorpus<{ target?: unknown }[]>(name));
  return vectors.flatMap(({ target }) =>
    typeof target === 'string'
      ? [[`GET ${target.replace('/modules/wide/', '/modules/shop/')}${HEAD}\r\n`]]
      : [],
  );
}

function readBodies(): Parts[] {
  const vectors = ['bodies-accepted', 'bodies-refused'].flatMap((name) =>
    readCorpus<{ body: CorpusBytes }[]>(name),
  );
  return vectors.map(({ body }) => {
    const bytes = toBytes(body);
    const framing = `Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    return [`POST ${GOOD_TARGET}${HEAD}${framing}`, bytes];
  });
}

function readRaw(): Parts[] {
  const vectors = readCorpus<{ send: unknown[] }[]>('parser-refused');
  return vectors.map(({ send }) =>
    send.flatMap((part) => (typeof part === 'string' ? [part.replaceAll('{host}', 'a')] : [])),
  );
}

function insertToken(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  return Buffer.from(
    text.replace('Host: a\r\n', `Host: a\r\nAuthorization: Bearer ${TOKEN}\r\n`),
    'latin1',
  );
}

async function recordAttacks(): Promise<Buffer[]> {
  const seen = new Map<string, Buffer>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      const text = bytes.toString('latin1').replaceAll(MARK, '');
      seen.set(text, Buffer.from(text, 'latin1'));
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await runAttacks(
    ATTACK_CORPUS.filter(({ isSlow }) => !isSlow),
    describeScene(port),
  );
  await new Promise((resolve) => server.close(resolve));
  return [...seen.values()];
}

/** Its providers are never called, because the server closes every connection. */
function describeScene(port: number): Scene {
  const address = { host: '127.0.0.1', port };
  const provider: ScriptedProvider = {
    ...{ url: 'http://127.0.0.1:9', port: 9, requests: [], sockets: new Set() },
    ...{ accepted: () => 0, stop: () => Promise.resolve() },
  };
  return {
    ...{ address, authority: 'a', base: '/modules/shop/http', route: '/items' },
    ...{ token: TOKEN, secrets: [], mark: '', lateChecks: [] },
    ...{ provider, sockets: provider, bystander: provider },
    ...{ introspection: provider, candidate: provider, bounded: address },
    toolServer: { ...provider, requests: [] },
    issuer: createTokenIssuer(),
    tokens: new Proxy({} as Scene['tokens'], { get: () => TOKEN }),
  };
}
