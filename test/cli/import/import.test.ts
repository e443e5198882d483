import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startFakeHost } from '../../support/cli/fake-host.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { MAIN } from '../../support/main-file.js';
import { startHost } from '../../support/start-host.js';
import { useEach } from '../../support/use.js';

function createDocument(overrides: object = {}) {
  return {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1' },
    paths: {
      '/items/{id}': {
        get: {
          tags: ['items'],
          operationId: 'getItem',
          responses: {
            200: {
              description: 'ok',
              content: {
                'application/json': {
                  schema: { type: 'object', properties: { id: { type: 'string' }, ...overrides } },
                },
              },
            },
          },
        },
      },
    },
  };
}

const ENDPOINT = 'http://127.0.0.1:4100/base';

describe('modgate import openapi', () => {
  const place = useEach(createWorkplace);

  const importShop = (...overrides: string[]) =>
    place.run([
      ...['import', 'openapi', 'shop.json', '--module', 'acme/shop', '--endpoint', ENDPOINT],
      ...overrides,
    ]);
  const read = (name: string) => readFileSync(join(place.folder, name), 'utf8');

  it('writes a descriptor and a manifest that pass check', async () => {
    place.write('shop.json', createDocument());
    const { code, stdout, stderr } = await importShop();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.equal(
      [
        'wrote modules.d/acme-shop/manifest.json',
        'wrote modules.d/acme-shop.yaml',
        'module acme/shop: 1 of 1 operations became routes, capabilities: acme/shop.items.read',
        '',
      ].join('\n'),
    );
    expect(read('modules.d/acme-shop.yaml')).to.include(`endpoints: ["${ENDPOINT}"]`);
    const checked = await place.run(['check', '--json']);
    expect(checked.code, checked.stdout).to.equal(0);
    expect(JSON.parse(checked.stdout).findings).to.deep.equal([]);
  });

  it('says that a document has no operations', async () => {
    place.write('shop.json', { ...createDocument(), paths: {} });
    expect((await importShop()).stdout).to.include(
      'note: the source describes no operations: the module has no routes\n',
    );
  });

  it('keeps the digits of long integers', async () => {
    const [lowest, highest] = ['-9223372036854775808', '9223372036854775807'];
    const document = JSON.stringify(createDocument({ count: { minimum: -1, maximum: -2 } }));
    const text = document.replace(':-1', `:${lowest}`).replace(':-2', `:${highest}`);
    place.write('shop.json', text);
    await importShop();
    expect(read('modules.d/acme-shop/manifest.json'))
      .to.include(`"minimum": ${lowest}`)
      .and.include(`"maximum": ${highest}`);
  });

  it('reads a document on standard input', () => {
    const importInput = (input: string) => {
      const args = ['import', 'openapi', '-', '--module', 'shop', '--endpoint', ENDPOINT];
      return spawnSync(process.execPath, [MAIN, ...args], { cwd: place.folder, input });
    };
    const { stdout, stderr } = importInput(JSON.stringify(createDocument()));
    expect(stderr.toString()).to.equal('');
    expect(stdout.toString()).to.include('module shop: 1 of 1 operations became routes');
    expect(importInput('{').stderr.toString()).to.match(
      /^modgate: the document on stdin is not valid JSON at line 1/,
    );
  });

  it('reads a document behind a byte-order mark, and checks files behind one', async () => {
    place.write('shop.json', `\u{feff}${JSON.stringify(createDocument())}`);
    const { code, stderr } = await importShop();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    for (const name of ['modules.d/acme-shop.yaml', 'modules.d/acme-shop/manifest.json']) {
      place.write(name, `\u{feff}${read(name)}`);
    }
    const checked = await place.run(['check', '--json']);
    expect(checked.code, checked.stdout).to.equal(0);
    expect((await importShop()).code).to.equal(0);
  });

  it('prints one line for each reason, with the count of all that has no route', async () => {
    const get = createDocument().paths['/items/{id}'].get;
    const others = Array.from({ length: 14 }, (_, n) => [`/items/${n}`, { options: get }]);
    place.write('shop.json', {
      ...createDocument(),
      paths: { ...createDocument().paths, ...Object.fromEntries(others) },
    });
    const { stdout } = await importShop();
    expect(stdout).to.include('acme/shop: 1 of 15 operations became routes');
    expect(stdout).to.include(
      '  14 × the operation: the host has no such routes (OPTIONS /items/0 and 13 more)\n',
    );
  });

  const TOKEN = 'env:ACME_SHOP_TOKEN';
  const schemes: readonly (readonly [object, string])[] = [
    [{ type: 'http', scheme: 'Bearer' }, `# auth: { bearer: ${TOKEN} }`],
    [
      { type: 'http', scheme: 'basic' },
      `# auth: { basic: { username: NAME, password: ${TOKEN} } }`,
    ],
    [
      { type: 'apiKey', in: 'header', name: 'X-Key' },
      `# auth: { header: { name: "X-Key", value: ${TOKEN} } }`,
    ],
    [{ type: 'apiKey', in: 'header', name: 'x\nevil: 1' }, '# The service expects its key in'],
    [{ type: 'apiKey', in: 'query', name: 'key' }, '# The service expects its key in the query'],
    [{ type: 'oauth2', flows: {} }, '# The service expects an OAuth 2.0 access token'],
    [{ type: 'http', scheme: 'digest' }, '# The document names credentials of a kind'],
  ];
  for (const [scheme, line] of schemes) {
    it(`suggests credentials for the security scheme ${JSON.stringify(scheme)}`, async () => {
      place.write('shop.json', {
        ...createDocument(),
        components: {
          securitySchemes: { other: { type: 'http', scheme: 'Hoba' }, used: scheme },
        },
        security: [{}, { used: [] }],
      });
      expect((await importShop()).code).to.equal(0);
      expect(read('modules.d/acme-shop.yaml'))
        .to.include(`    ${line}`)
        .and.not.match(/^\s*evil/m);
      expect((await place.run(['check'])).code).to.equal(0);
    });
  }

  it('prints the difference of a later run and writes it only with --write', async () => {
    place.write('shop.json', createDocument());
    expect((await importShop()).code).to.equal(0);
    const before = read('modules.d/acme-shop/manifest.json');
    const unchanged = await importShop('--check');
    expect([unchanged.code, unchanged.stdout]).to.deep.equal([0, 'no differences\n']);

    place.write('shop.json', createDocument({ size: { type: 'integer' } }));
    const changed = await importShop();
    expect(changed.code).to.equal(0);
    const pointer = '/operation/output_schema/properties/size';
    expect(changed.stdout).to.equal(
      `differences:\n  + GET /items/{id} ${pointer}\nuse --write to write them\n`,
    );
    expect((await importShop('--check')).code).to.equal(1);
    expect(read('modules.d/acme-shop/manifest.json')).to.equal(before);

    const written = await importShop('--write');
    expect([written.code, written.stdout.split('\n')[0]]).to.deep.equal([
      0,
      'wrote modules.d/acme-shop/manifest.json',
    ]);
    expect(read('modules.d/acme-shop/manifest.json')).to.include('"size"');
    expect((await importShop('--check')).code).to.equal(0);
  });

  it('compares a WebSocket and another route of the same path separately', async () => {
    place.write('shop.json', createDocument());
    await importShop();
    const file = 'modules.d/acme-shop/manifest.json';
    const manifest = JSON.parse(read(file)) as { http_routes: { operation: object }[] };
    const [route] = manifest.http_routes;
    const socket = { ...route, operation: { operation_id: 'live', stream: 'websocket' } };
    manifest.http_routes.push(socket as { operation: object });
    place.write(file, manifest);
    const { code, stdout } = await importShop('--check');
    expect([code, stdout.split('\n')[1]]).to.deep.equal([1, '  - GET /items/{id} as a WebSocket']);
  });

  it('keeps what operators wrote into the descriptor, and ignores changes of texts in --check', async () => {
    place.write('shop.json', createDocument());
    await importShop();
    const descriptor = `${read('modules.d/acme-shop.yaml')}# mine\nlimits: { timeout_ms: 5 }\n`;
    place.write('modules.d/acme-shop.yaml', descriptor);
    place.write('shop.json', createDocument({ id: { type: 'string', description: 'The id' } }));
    const moved = ['--endpoint', 'http://127.0.0.1:4200'];
    expect((await importShop(...moved, '--check')).code).to.equal(0);
    const { stdout } = await importShop(...moved, '--write', '--json');
    expect(JSON.parse(stdout).written).to.deep.equal([
      'modules.d/acme-shop/manifest.json',
      'modules.d/acme-shop.yaml',
    ]);
    const after = read('modules.d/acme-shop.yaml');
    expect(after).to.match(/# mine\nlimits: \{ timeout_ms: 5 \}/);
    expect(after).to.include('http://127.0.0.1:4200').and.not.to.include(ENDPOINT);
  });

  it('ignores changes of texts in --check, in lists of schemas and parameters too', async () => {
    const write = (text: string, rule: object = {}) => {
      const document = createDocument({
        kind: {
          anyOf: [
            { type: 'string', title: text },
            { type: 'integer', ...rule },
          ],
        },
        limits: { type: 'object', dependentRequired: { title: ['id'], ...rule } },
      });
      const parameter = { name: 'prefer', in: 'header', description: text, example: text };
      Object.assign(document.paths['/items/{id}'].get, { parameters: [parameter] });
      place.write('shop.json', document);
    };
    write('One');
    await importShop();
    write('Another');
    const { code, stdout } = await importShop('--check');
    expect(stdout.match(/clients do not notice/g), stdout).to.have.length(3);
    expect(code, stdout).to.equal(0);
    for (const rule of [{ minimum: 1 }, { title: ['size'] }]) {
      write('One', rule);
      expect((await importShop('--check')).code, JSON.stringify(rule)).to.equal(1);
    }
  });

  it('changes nothing of the descriptor but its endpoints', async () => {
    place.write('shop.json', createDocument());
    await importShop();
    const own = "limits: {timeout_ms: 0x10}   # mine\r\nowner: {name: 'a  b'}\r\n";
    const written = read('modules.d/acme-shop.yaml').replaceAll('\n', '\r\n') + own;
    const FORMS: readonly [before: string, after: string][] = [
      ['endpoints: ["http://old:1"]', 'endpoints: ["http://new:1"]'],
      ['endpoints: # ours\r\n      - http://old:1', 'endpoints: # ours\r\n      ["http://new:1"]'],
      [
        'endpoints:\r\n      - http://old:1 # first\r\n      - { url: http://old:2, weight: 3 }',
        'endpoints: ["http://new:1"]',
      ],
    ];
    for (const [before, after] of FORMS) {
      const endpoints = /endpoints: \[[^\]]*\]/;
      place.write('modules.d/acme-shop.yaml', written.replace(endpoints, before));
      await importShop('--endpoint', 'http://new:1', '--write');
      expect(read('modules.d/acme-shop.yaml')).to.equal(written.replace(endpoints, after));
    }
  });

  it('rejects a descriptor that no import has written', async () => {
    place.write('shop.json', createDocument());
    const ownDescriptor = 'module: acme/shop\nmanifest: ./mine.yaml\n';
    place.write('modules.d/acme-shop.yaml', ownDescriptor);
    const { code, stderr } = await importShop('--write');
    expect(code).to.equal(2);
    expect(stderr).to.match(/is not from an import: nothing was written/);
    expect(read('modules.d/acme-shop.yaml')).to.equal(ownDescriptor);
  });

  it('rejects the descriptor of another module whose files have the same name', async () => {
    place.write('shop.json', createDocument());
    const other = 'module: acme-shop\nmanifest: ./acme-shop/manifest.json\n';
    place.write('modules.d/acme-shop.yaml', other);
    const { code, stderr } = await importShop('--write');
    expect(code).to.equal(2);
    expect(stderr).to.match(/is the descriptor of another module: nothing was written/);
    expect(read('modules.d/acme-shop.yaml')).to.equal(other);
  });

  it('reports a document that cannot be read in one line', async () => {
    const expectations: readonly [text: string, message: RegExp][] = [
      [
        '{"openapi": "2.0"}',
        /OpenAPI 2\.0 is not supported: use Swagger 2\.0, OpenAPI 3\.0 to 3\.2\n$/,
      ],
      ['\n<!DOCTYPE html>\n<p>a: {', /shop\.json is a page or XML: name the document itself/],
      ['{"openapi": ', /shop\.json is not valid JSON at line 1: [^\n]+\n$/],
      ['openapi: 3.1.0\na: [b\nc: d\n', /shop\.json is not valid YAML at line \d: [^\n]+\n$/],
    ];
    for (const [text, message] of expectations) {
      place.write('shop.json', text);
      const { code, stderr } = await importShop();
      expect(code).to.equal(1);
      expect(stderr)
        .to.match(/^modgate: [^\n]+\n$/)
        .and.match(message);
    }
  });

  it('rejects a document that is not a file, and the name of no module, as wrong usage', async () => {
    expect(await importShop()).to.deep.equal({
      code: 2,
      stdout: '',
      stderr: 'modgate: shop.json does not exist\n',
    });
    place.write('shop.json/x', '');
    const folder = await importShop();
    expect(folder.stderr).to.equal('modgate: shop.json is not a regular file\n');
    expect(folder.code).to.equal(2);
    const { code, stderr } = await importShop('--module', 'acme/crm/x');
    expect({ code, stderr }).to.deep.equal({
      code: 2,
      stderr:
        'modgate: --module must be such as crm or acme/crm: lower-case letters, digits, ., _ and -, at most 63 in a part\n',
    });
  });

  it('notes servers whose path the endpoint does not have, with all values of variables', async () => {
    const variables = { base: { default: 'v2', enum: ['v1', 'v2'] }, region: { default: 'eu' } };
    const SERVERS: readonly [url: string, noted: string | null][] = [
      ['https://shop.example/v2', '/v2'],
      ['https://{region}.shop.example/base', null],
      ['https://{region}.shop.example/{base}', '/v2'],
      ['{scheme}://shop.example/v1/', '/v1'],
      ['https://shop.example/{unknown}', null],
    ];
    for (const [url, noted] of SERVERS) {
      place.write('shop.json', { ...createDocument(), servers: [{ url, variables }] });
      const { stdout } = await importShop('--check');
      const note = `the document has its paths below ${noted}:`;
      expect(stdout.includes('the document has its paths below'), url).to.equal(noted !== null);
      if (noted !== null) expect(stdout).to.include(note);
    }
    const servers = [{ url: 'https://shop.example/v2' }, { url: 'https://shop.example' }];
    place.write('shop.json', { ...createDocument(), servers });
    expect((await importShop('--check')).stdout).not.to.include('below');
  });

  it('reads no URL with credentials, and prints none', async () => {
    const { code, stderr } = await place.run([
      ...['import', 'openapi', 'http://user:s3cret@127.0.0.1:1/openapi.json'],
      ...['--module', 'shop', '--endpoint', ENDPOINT],
    ]);
    expect({ code, stderr }).to.deep.equal({
      code: 2,
      stderr:
        'modgate: the URL of the document has credentials: download the document and import the file\n',
    });
  });

  it('follows no redirect', async () => {
    const server = await startFakeHost(() => ({
      status: 302,
      headers: { location: 'http://127.0.0.1:1/' },
      body: '',
    }));
    const { code, stderr } = await place.run([
      ...['import', 'openapi', `${server.url}/openapi.json`],
      ...['--module', 'shop', '--endpoint', ENDPOINT],
    ]);
    await server.close();
    expect(code).to.equal(1);
    expect(stderr).to.match(/redirect, which is never followed/);
  });
});

describe('a module imported from a URL', () => {
  let provider: EchoProvider | undefined;

  after(() => provider?.close());

  it('is mounted and guarded by one command', async () => {
    provider = await startEchoProvider();
    const host = await startHost();
    const source = await startFakeHost(() => ({ body: createDocument() }));
    const place = createWorkplace();
    try {
      const { code, stderr } = await place.run([
        ...['import', 'openapi', `${source.url}/openapi.json`, '--module', 'shop'],
        ...['--endpoint', provider.url, '--out', join(host.directory, 'modules.d')],
      ]);
      expect(code, stderr).to.equal(0);
      const call = (scopes: string) =>
        fetch(`${host.url}/modules/shop/http/items/7`, {
          headers: { authorization: `Bearer dev-service:me${scopes}` },
        });
      await waitUntil('the module to be served', async () => {
        return (await call(':shop.items.read')).status === 200;
      });
      expect((await call(':shop.items.write')).status).to.equal(403);
    } finally {
      await source.close();
      await host.stop();
    }
  });
});
