import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ProviderFailure } from '../../core/contract/index.js';
import { parseDescriptor } from '../../core/descriptor/parse-descriptor.js';
import { InvalidFile } from '../../core/document/diagnostic.js';
import { fetchManifestText } from '../../core/manifest/fetch-manifest.js';
import {
  type LoadedManifest,
  loadManifest,
  type ManifestInput,
  ManifestUnavailable,
} from '../../core/manifest/load-manifest.js';
import { manifestDigest } from '../../core/manifest/parse-manifest.js';
import { server as certificate } from '../support/certificates.js';
import { diagnosticsOf, summarize } from '../support/documents/invalid-file.js';
import { knownAdapters } from '../support/documents/known-adapters.js';
import { createFolder } from '../support/temporary-folder.js';

const MANIFEST = {
  protocol: 'modgate.manifest.v1',
  module_id: 'acme/crm',
  capabilities: [],
  http_routes: [],
};
const JSON_TEXT = JSON.stringify(MANIFEST);
const YAML_TEXT =
  'protocol: modgate.manifest.v1\nmodule_id: acme/crm\ncapabilities: []\nhttp_routes: []\n';
const DIGEST = manifestDigest(MANIFEST);
const FOUR_MIB = 4 * 1024 * 1024;

async function read(
  manifestLines: string,
  rest: Partial<ManifestInput> = {},
): Promise<LoadedManifest> {
  const text = `module: crm\nprovider: { kind: http, config: { endpoints: [http://a.test] } }\n${manifestLines}`;
  const file = 'crm.yaml';
  const { descriptor, locate } = await parseDescriptor({ file, text, adapters: knownAdapters });
  return loadManifest({
    descriptor,
    file,
    text,
    locate,
    baseDir: '/nowhere',
    readFromProvider: () => expect.fail('the provider was called'),
    signal: new AbortController().signal,
    ...rest,
  });
}

async function unavailability(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => expect.fail('there was a manifest'),
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(ManifestUnavailable);
  return (error as Error).message;
}

describe('loadManifest', () => {
  for (const [name, text] of [
    ['m.json', JSON_TEXT],
    ['m.yaml', YAML_TEXT],
    ['m.yml', YAML_TEXT],
    ['manifest', JSON_TEXT],
    ['manifest', YAML_TEXT],
  ] as const) {
    it(`reads ${name} beside the descriptor`, async () => {
      const baseDir = createFolder({ [`crm/${name}`]: text });
      const result = await read(`manifest: ./crm/${name}`, { baseDir });
      expect(result.manifest).to.deep.equal(MANIFEST);
      expect(result.digest).to.equal(DIGEST);
      expect(result.files).to.deep.equal([join(baseDir, 'crm', name)]);
    });
  }

  it('reads thousands of routes in their order', async () => {
    const http_routes = Array.from({ length: 2500 }, (_, index) => ({
      method: 'GET',
      path: `/${index}`,
    }));
    const manifest = { ...MANIFEST, http_routes };
    const baseDir = createFolder({ 'm.json': JSON.stringify(manifest) });
    const results = [1, 2].map(() => read('manifest: ./m.json', { baseDir }));
    for (const result of await Promise.all(results)) {
      expect(result.manifest).to.deep.equal(manifest);
      expect(result.digest).to.equal(manifestDigest(manifest));
    }
  });

  it('locates diagnostics in the manifest file, named as written', async () => {
    const baseDir = createFolder({ 'm.json': '{\n  "protocol": "x"\n}' });
    const diagnostics = await diagnosticsOf(() => read('manifest: ./m.json', { baseDir }));
    expect(diagnostics.at(-1)).to.include({ file: './m.json', line: 2, rule: 'invalid-value' });
    const broken = createFolder({ 'm.json': '{' });
    const [fault] = await diagnosticsOf(() => read('manifest: ./m.json', { baseDir: broken }));
    expect(fault).to.include({ file: './m.json', line: 1, column: 2, rule: 'json-syntax' });
  });

  it('rejects a descriptor with a manifest file that cannot be read', async () => {
    const baseDir = createFolder({
      bad: Buffer.from('{\n\n  "summary": "Müller"', 'latin1'),
      wide: Buffer.from('\ufeff{}', 'utf16le'),
      'folder/x': '',
    });
    const cases = [
      ['./m.json', 'file-missing', 'does not exist'],
      ['bad', 'invalid-utf8', 'is not valid UTF-8 in line 3'],
      ['wide', 'invalid-utf8', 'is UTF-16, not UTF-8'],
      ['folder', 'not-a-file', 'is not a regular file'],
    ] as const;
    for (const [path, rule, rest] of cases) {
      const diagnostics = await diagnosticsOf(() => read(`manifest: ${path}`, { baseDir }));
      const message = `'manifest' names the file '${path}', which ${rest}`;
      expect(diagnostics.map(summarize)).to.deep.equal([{ rule, line: 3, column: 11, message }]);
      expect(diagnostics[0]).to.include({ file: 'crm.yaml' });
    }
  });

  it('hints at the URL form for a URL that is written as a path', async () => {
    const [finding] = await diagnosticsOf(() => read('manifest: https://a.test/m.json'));
    expect(finding?.hint).to.equal('write { url: … } for a manifest behind a URL');
  });

  it('finds the same in an inline manifest of a long descriptor, which a thread parses', async () => {
    const comment = `# ${'x'.repeat(20_000)}\n`;
    const inline = `manifest:\n  inline: ${JSON_TEXT}\n`;
    expect(await read(inline + comment)).to.deep.equal(await read(inline));
    const invalid = inline.replace('acme/crm', 'ACME');
    const diagnostics = await diagnosticsOf(() => read(invalid + comment));
    expect(diagnostics).to.deep.equal(await diagnosticsOf(() => read(invalid)));
    expect(diagnostics[0]).to.deep.include({ path: ['manifest', 'inline', 'module_id'], line: 4 });
  });

  it('reads an inline manifest, and locates diagnostics in the descriptor', async () => {
    const inline = `manifest:\n  inline: ${JSON_TEXT}`;
    expect((await read(inline)).manifest).to.deep.equal(MANIFEST);
    const diagnostics = await diagnosticsOf(() => read(inline.replace('acme/crm', 'ACME')));
    expect(diagnostics[0]).to.deep.include({
      file: 'crm.yaml',
      line: 4,
      path: ['manifest', 'inline', 'module_id'],
    });
  });

  it('requests the manifest of the provider', async () => {
    const readFromProvider = () => Promise.resolve(Buffer.from(JSON.stringify(MANIFEST)));
    const result = await read('manifest: { from: provider }', { readFromProvider });
    expect(result).to.deep.include({ manifest: MANIFEST, digest: DIGEST, files: [] });
    const wrong = { ...MANIFEST, module_id: 1 };
    const bad = () => Promise.resolve(Buffer.from(JSON.stringify(wrong, null, 1)));
    const [finding] = await diagnosticsOf(() => read('', { readFromProvider: bad }));
    expect(finding).to.include({ file: 'provider of crm', line: 3, column: 15 });
  });

  it('waits for a provider that sends something other than JSON', async () => {
    const cases = {
      '<html>': 'not valid JSON at byte 0',
      '{"protocol":': 'not valid JSON at byte 12',
      '"\xff"': 'not valid UTF-8 at byte 1',
    };
    for (const [sent, reason] of Object.entries(cases)) {
      const readFromProvider = () => Promise.resolve(Buffer.from(sent, 'latin1'));
      const message = `the provider gave no manifest: what it sent is ${reason}`;
      expect(await unavailability(read('', { readFromProvider }))).to.equal(message);
    }
  });

  it('rejects a provider that will never give one', async () => {
    const failure = new ProviderFailure('protocol', 'none here', { phase: 'preparing' });
    const bad = () => Promise.reject(failure);
    const [finding] = await diagnosticsOf(() => read('', { readFromProvider: bad }));
    expect(finding).to.deep.include({
      rule: 'no-manifest',
      message: 'the provider gave no manifest (protocol): none here',
      hint: 'write manifest: ./crm/manifest.yaml to read it from a file',
    });
  });

  it('reports why a provider does not respond, without the message of a foreign error', async () => {
    const failure = new ProviderFailure('unavailable', 'no link', { detail: 'ECONNREFUSED' });
    const cases = [
      [failure, 'the provider gave no manifest (unavailable): ECONNREFUSED'],
      [new Error('hunter2'), 'the provider gave no manifest'],
    ] as const;
    for (const [error, message] of cases) {
      const readFromProvider = () => Promise.reject(error);
      expect(await unavailability(read('', { readFromProvider }))).to.equal(message);
    }
  });

  it('accepts only the manifest that is pinned', async () => {
    const inline = `manifest: { inline: ${JSON_TEXT} }`;
    expect((await read(`${inline}\nmanifest_digest: ${DIGEST}`)).digest).to.equal(DIGEST);
    const other = `sha256:${'0'.repeat(64)}`;
    const diagnostics = await diagnosticsOf(() => read(`${inline}\nmanifest_digest: ${other}`));
    expect(diagnostics.map(summarize)).to.deep.equal([
      {
        rule: 'digest-mismatch',
        line: 4,
        column: 18,
        message: "'manifest_digest' must be the digest of the manifest",
        hint: `the manifest that was read has ${DIGEST}`,
      },
    ]);
  });

  describe('behind a URL', () => {
    let server: Server;
    let url: string;
    let answer: RequestListener;

    const ignore = new AbortController().signal;
    const send =
      (status: number, headers: Record<string, string>, body: string | Buffer): RequestListener =>
      (_, response) => {
        response.writeHead(status, headers).end(body);
      };

    beforeEach((done) => {
      server = createServer((request, response) => answer(request, response));
      server.listen(0, '127.0.0.1', () => {
        url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        done();
      });
    });

    afterEach((done) => {
      server.closeAllConnections();
      server.close(done);
    });

    const TYPES: readonly [type: string | null, path: string, text: string][] = [
      ['application/json', '/m', JSON_TEXT],
      ['application/json; charset=utf-8', '/m.yaml', JSON_TEXT],
      ['Application/vnd.modgate+JSON', '/m', JSON_TEXT],
      ['application/yaml', '/m', YAML_TEXT],
      ['text/x-yaml', '/m.json', YAML_TEXT],
      ['text/plain', '/m.yml', YAML_TEXT],
      ['application/octet-stream', '/m.json', JSON_TEXT],
      [null, '/m.json?v=1', JSON_TEXT],
    ];
    for (const [type, path, text] of TYPES) {
      it(`reads ${type ?? 'no type'} at ${path}`, async () => {
        answer = send(200, type === null ? {} : { 'content-type': type }, text);
        const result = await read(`manifest: { url: "${url}${path}" }`);
        expect(result).to.deep.include({ manifest: MANIFEST, digest: DIGEST, files: [] });
      });
    }

    it('requests JSON or YAML, not compressed', async () => {
      let received: Record<string, unknown> = {};
      answer = (request, response) => {
        received = request.headers;
        send(200, { 'content-type': 'application/json' }, JSON_TEXT)(request, response);
      };
      await read(`manifest: { url: "${url}" }`);
      expect(received).to.include({
        accept: 'application/json, application/yaml',
        'accept-encoding': 'identity',
      });
    });

    const JSON_TYPE = { 'content-type': 'application/json' };
    const REJECTED: readonly [name: string, answer: RequestListener, message: string][] = [
      ['another status', send(404, JSON_TYPE, '{}'), 'answered with status 404 instead of 200'],
      ['an empty response', send(204, {}, ''), 'answered with status 204 instead of 200'],
      [
        'a redirect',
        send(302, { location: '/m.json' }, ''),
        'answered with a redirect, which is never followed',
      ],
      [
        'a compressed body',
        send(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }, gzipSync(JSON_TEXT)),
        'answered with a compressed body',
      ],
      [
        'HTML',
        send(200, { 'content-type': 'text/html' }, JSON_TEXT),
        'answered with a content type that is neither JSON nor YAML',
      ],
      [
        'more than 4 MiB',
        send(200, JSON_TYPE, Buffer.alloc(FOUR_MIB + 1, ' ')),
        'answered with more than 4 MiB',
      ],
      [
        'text that is not UTF-8',
        send(200, JSON_TYPE, Buffer.from([0x22, 0xff, 0x22])),
        'answered with text that is not UTF-8',
      ],
      [
        'a body that is cut short',
        (_, response) => {
          response.writeHead(200, { ...JSON_TYPE, 'content-length': '100' }).write('{');
          response.destroy();
        },
        'could not be reached, or the connection was lost (ECONNRESET)',
      ],
      [
        'a connection that is reset',
        (request) => request.socket.destroy(),
        'could not be reached, or the connection was lost (ECONNRESET)',
      ],
    ];
    for (const [name, listener, message] of REJECTED) {
      it(`rejects ${name}`, async () => {
        answer = listener;
        const reason = await unavailability(read(`manifest: { url: "${url}/m.json?key=CANARY" }`));
        expect(reason).to.equal(`the manifest's URL ${message}`);
      });
    }

    for (const [name, listener] of [
      ['never responds', () => {}],
      [
        'never ends',
        (_: unknown, response: Parameters<RequestListener>[1]) => {
          response.writeHead(200, JSON_TYPE).write('{');
        },
      ],
    ] as const) {
      it(`fails for a server that ${name}`, async () => {
        answer = listener;
        const reason = await unavailability(fetchManifestText(url, ignore, 100));
        expect(reason).to.equal("the manifest's URL did not answer in full within 100 ms");
      });
    }

    it('reports a port without a listener', async () => {
      const reason = await unavailability(fetchManifestText('http://127.0.0.1:1', ignore));
      expect(reason).to.equal(
        "the manifest's URL could not be reached, or the connection was lost (ECONNREFUSED)",
      );
    });

    it('names the error of TLS', async () => {
      const reason = await unavailability(
        fetchManifestText(url.replace('http:', 'https:'), ignore),
      );
      expect(reason).to.match(/ the connection was lost \((?:EPROTO|ERR_SSL_[A-Z0-9_]+)\)$/);
    });

    it('names the problem of a certificate', async () => {
      const secure = createTlsServer({ ...certificate }).listen(0, '127.0.0.1');
      await once(secure, 'listening');
      const { port } = secure.address() as AddressInfo;
      const reason = await unavailability(fetchManifestText(`https://127.0.0.1:${port}`, ignore));
      expect(reason).to.match(
        /^the manifest's URL could not be reached: its certificate is from an unknown authority \([A-Z_]+\)$/,
      );
      secure.close();
    });

    it('stops when its signal is aborted', async () => {
      const controller = new AbortController();
      answer = () => controller.abort();
      const reason = await unavailability(fetchManifestText(url, controller.signal));
      expect(reason).to.equal(
        "the manifest's URL could not be reached, or the connection was lost",
      );
    });

    it('closes the connection of a response that it does not read', async () => {
      answer = (_, response) => {
        response.writeHead(500, JSON_TYPE).write('{');
      };
      const closed = new Promise<void>((resolve) => {
        server.once('connection', (socket) => socket.once('close', () => resolve()));
      });
      // The timeout would also close it.
      await unavailability(fetchManifestText(url, ignore, 600_000));
      await closed;
    });

    it('names the URL in diagnostics without its query', async () => {
      answer = send(200, JSON_TYPE, '{\n"protocol": 1}');
      const diagnostics = await diagnosticsOf(() =>
        read(`manifest: { url: "${url}/m?key=CANARY#x" }`),
      );
      expect(new Set(diagnostics.map(({ file }) => file))).to.deep.equal(new Set([`${url}/m`]));
      expect(diagnostics.at(-1)).to.include({ line: 2 });
      expect(new InvalidFile(diagnostics).message).not.to.contain('CANARY');
    });
  });
});
