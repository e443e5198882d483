import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { BACKENDS } from '../../store/backend.js';
import { expectShortTurns, measureHeldMs } from '../../support/held-ms.js';
import { ClientThread } from '../../support/http/client-thread.js';
import { buildManifest } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { readReleases } from '../../support/releases.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const MAX_HELD_MS = 50;
const MIB = 1_048_576;
/** As many releases as a store keeps. */
const KEPT_RELEASES = 50;

type Files = Readonly<Record<string, Uint8Array | string | object>>;

const PROVIDER = { kind: 'http', config: { endpoints: ['http://127.0.0.1:9'] } };
const describeCrm = (manifest: unknown, more: object = {}) => ({
  ...{ module: 'crm', provider: PROVIDER, manifest },
  ...more,
});
const repeat = <T>(count: number, create: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => create(index));
const createRoute = (path: string, operation?: object) => {
  return { method: 'GET', path, capability: 'crm.read', ...(operation && { operation }) };
};
const createManifest = (served: string, routes: readonly object[] = []) =>
  buildManifest('crm', [createRoute(served), ...routes] as Parameters<typeof buildManifest>[1]);
const createRoutes = (count: number) => repeat(count, (index) => createRoute(`/r${index}/{id}`));
const createSchema = (members: number) => {
  const names = repeat(members, (index) => `member_${index}`);
  const properties = names.map((name) => [name, { type: 'string', maxLength: 100, minLength: 1 }]);
  return { type: 'object', properties: Object.fromEntries(properties) };
};
const toYaml = (routes: readonly { method: string; path: string }[], indent: string) =>
  routes
    .map(({ path }) => `- method: GET\n  path: ${path}\n  capability: crm.read\n`)
    .join('')
    .replace(/^/gm, indent)
    .trimEnd();
const createYaml = (routes: readonly { method: string; path: string }[], indent = '') =>
  ['protocol: modgate.manifest.v1', 'module_id: crm', 'capabilities: [crm.read]', 'http_routes:']
    .map((line) => indent + line)
    .concat(toYaml(routes, `${indent}  `))
    .join('\n');
const YAML_DESCRIPTOR =
  'module: crm\nprovider: { kind: http, config: { endpoints: [http://127.0.0.1:9] } }\nmanifest:\n  inline:\n';
const createCode = (bytes: number) =>
  `import 'node:fs';\nexport default () => ({ status: 204 });\n//${'\u00e9'.repeat(bytes / 2 - 50)}`;
const describeLocal = (index: number) => ({
  module: `code${index}`,
  provider: { kind: 'local', config: { file: `./code/${index % 3}.mjs` } },
  manifest: { inline: buildManifest(`code${index}`, []) },
});

/** What hosts serve. All have the given route. */
const SERVED: Readonly<Record<string, (served: string) => Files>> = {
  'of 16 MiB': (served) => ({
    'crm.json': describeCrm({ inline: createManifest(served) }),
    ...Object.fromEntries(repeat(4, (index) => [`d/${index}.bin`, randomBytes(4 * MIB - 2000)])),
  }),
  'of 10,000 files': (served) => ({
    'crm.json': describeCrm({ inline: createManifest(served) }),
    ...Object.fromEntries(
      repeat(9999, (index) => [`d${index % 10}/${index}.bin`, randomBytes(100)]),
    ),
  }),
  'of 1,000 descriptors': (served) => ({
    ...Object.fromEntries(
      repeat(999, (index) => [
        `a${index}.json`,
        { ...describeCrm({ inline: buildManifest(`a${index}`, []) }), module: `a${index}` },
      ]),
    ),
    'crm.json': describeCrm({ inline: createManifest(served) }),
  }),
  'with a descriptor of 120 KiB': (served) => ({
    'crm.json': describeCrm({ inline: createManifest(served, createRoutes(1750)) }),
  }),
  'with a descriptor of 9,900 values': (served) => ({
    'crm.json': describeCrm(
      { inline: createManifest(served) },
      { console: { grants: repeat(9900, (index) => `g${index}`) } },
    ),
  }),
  'with a descriptor of 9,500 tokens in YAML': (served) => ({
    'crm.yaml': YAML_DESCRIPTOR + createYaml([createRoute(served), ...createRoutes(330)], '    '),
  }),
  'with a manifest of 10,000 routes': (served) => ({
    'crm.json': describeCrm('./d/manifest.json'),
    'd/manifest.json': createManifest(served, createRoutes(9999)),
  }),
  'with a manifest of 90,000 tokens in YAML': (served) => ({
    'crm.json': describeCrm('./d/manifest.yaml'),
    'd/manifest.yaml': createYaml([createRoute(served), ...createRoutes(3300)]),
  }),
  'with schemas of 190,000 values': (served) => ({
    'crm.json': describeCrm('./d/manifest.json'),
    'd/manifest.json': createManifest(
      served,
      repeat(55, (index) => createRoute(`/r${index}`, { output_schema: createSchema(850) })),
    ),
  }),
  'with enumerations of 10,000 values': (served) => ({
    'crm.json': describeCrm('./d/manifest.json'),
    'd/manifest.json': createManifest(
      served,
      repeat(18, (index) =>
        createRoute(`/r${index}`, { output_schema: { enum: repeat(10_000, (value) => value) } }),
      ),
    ),
  }),
  'with 12 MiB of code that 100 modules share': (served) => ({
    ...Object.fromEntries(repeat(100, (index) => [`c${index}.json`, describeLocal(index)])),
    ...Object.fromEntries(repeat(3, (index) => [`code/${index}.mjs`, createCode(4 * MIB - 2000)])),
    'crm.json': describeCrm({ inline: createManifest(served) }),
  }),
};

/** Descriptors that are rejected, after as much of them was read as can be. */
const REJECTED: Readonly<Record<string, Files>> = {
  'JSON of 190,000 values': {
    'crm.json': describeCrm({ inline: createManifest('/r', createRoutes(9000)) }),
  },
  'JSON of 4 MiB, most of it spaces': { 'crm.json': `{${' '.repeat(4 * MIB - 100)}}` },
  'JSON of 128 KiB of escapes': { 'crm.json': `{"a":"${'\\n'.repeat(MIB / 16 - 100)}"}` },
  'JSON of 9,900 unknown keys': {
    'crm.json': Object.fromEntries(repeat(9900, (index) => [`key${index}`, index])),
  },
  'YAML of 1 MiB': { 'crm.yaml': `a: >\n${'  a\n\n'.repeat(MIB / 5 - 100)}` },
  'YAML of 128 KiB in folded lines': { 'crm.yaml': `a: >\n${'  a\n\n'.repeat(MIB / 40 - 100)}` },
  'YAML of 100,000 tokens': { 'crm.yaml': `a: [${'1,'.repeat(33_000)}1]` },
  'a list of 199,000 endpoints': {
    'crm.json': describeCrm(
      { inline: createManifest('/r') },
      { provider: { ...PROVIDER, config: { endpoints: { file: './d/endpoints.json' } } } },
    ),
    'd/endpoints.json': repeat(199_000, (index) => `http://127.0.0.1:${(index % 60_000) + 1}`),
  },
  'code with 200,000 imports': {
    'c.json': describeLocal(0),
    'code/0.mjs': repeat(200_000, (index) => `import'${index}';`).join(''),
  },
};

for (const kind of BACKENDS) {
  describe(`a large release on ${kind.name}`, () => {
    const backend = kind.create();
    let host: RunningHost;
    let client: ClientThread;
    let count = 0;

    before(async function () {
      await kind.require(this);
      const store = backend.url === null ? [] : ['--store', backend.url];
      host = await startHost({ args: ['--modules', 'store:', ...store] });
      client = new ClientThread();
    });

    after(async () => {
      await client?.close();
      await host?.stop();
      await backend.dispose();
    });

    const createBody = async (files: Files) => {
      const { active } = await readReleases(host);
      const encoded = Object.entries(files).map(([path, content]) => {
        const isBytes = content instanceof Uint8Array;
        const text = isBytes || typeof content === 'string' ? content : JSON.stringify(content);
        return [path, Buffer.from(text as string).toString('base64')];
      });
      const value = { files: Object.fromEntries(encoded), base: active };
      const body = new TextEncoder().encode(JSON.stringify(value));
      // What the test has used must not be collected while the host is measured.
      collect();
      return body;
    };
    const readStatus = (answer: string) => Number(answer.split(' ', 2)[1]);
    const publish = async (body: Uint8Array<ArrayBuffer>) =>
      readStatus(await client.post(host.port, '/releases', body));
    const isServed = async (path: string) =>
      // Nothing listens at the endpoint.
      readStatus(await client.get(host.port, `/modules/crm/http${path}`)) === 502;

    /** Publishes a release, and waits until the host serves it. */
    const measureServed = async (create: (served: string) => Files) => {
      count += 1;
      const path = `/served${count}`;
      const body = await createBody(create(path));
      return measureHeldMs(async () => {
        expect(await publish(body)).to.equal(200);
        await waitUntil('the release is served', () => isServed(path), 120_000);
      });
    };
    const expectShort = (measure: () => Promise<number>) => expectShortTurns(MAX_HELD_MS, measure);
    const small = (served: string) => ({
      'crm.yaml': YAML_DESCRIPTOR + createYaml([createRoute(served)], '    '),
    });

    it('is parsed by threads and libraries that were loaded before', async () => {
      await measureServed(small);
      expect(readlinkSync(join(host.directory, 'state/releases/current'))).to.have.length(64);
    });

    for (const [name, create] of Object.entries(SERVED)) {
      it(`holds the event loop for less than ${MAX_HELD_MS} ms until it is served: ${name}`, async () => {
        await expectShort(() => measureServed(create));
      });
    }

    for (const [name, files] of Object.entries(REJECTED)) {
      it(`holds the event loop for less than ${MAX_HELD_MS} ms when it is rejected: ${name}`, async () => {
        const body = await createBody(files);
        await expectShort(() =>
          measureHeldMs(async () => expect(await publish(body)).to.equal(400)),
        );
      });
    }

    it(`holds the event loop for less than ${MAX_HELD_MS} ms when it is shown or compared`, async () => {
      const { releases } = await readReleases(host);
      for (const { release, base, files } of releases) {
        // Those of many files take seconds to compare.
        for (const query of base === null || files > 2 ? [''] : ['', `?against=${base}`]) {
          const show = async () => {
            const answer = await client.get(host.port, `/releases/${release}${query}`);
            expect(readStatus(answer)).to.equal(200);
          };
          await expectShort(() => measureHeldMs(show));
        }
      }
    });

    it(`holds the event loop for less than ${MAX_HELD_MS} ms when it is removed`, async () => {
      const { releases } = await readReleases(host);
      for (let added = releases.length; added < KEPT_RELEASES + releases.length; added += 1) {
        await expectShort(() => measureServed(small));
      }
      const { releases: left } = await readReleases(host);
      expect(Math.max(...left.map(({ bytes }) => bytes))).to.be.below(MIB);
    });
  });
}
