import { expect } from 'chai';
import { buildManifest, describeModule, toRoutes } from '../support/http/modules.js';
import { startReloadHost } from '../support/reload/reload-host.js';
import { use } from '../support/use.js';

const ROUTES = toRoutes(['GET /items'], 'use');
const MANIFEST = { inline: buildManifest('bad', ROUTES) };

/** Descriptors with a NUL character in a path, by file. */
function describeBad(url: string): Record<string, object> {
  const http = (config: object) => ({ kind: 'http', config: { endpoints: [url], ...config } });
  const process = (config: object) => ({
    kind: 'process',
    config: { command: ['node'], ...config },
  });
  const bad = {
    manifest: { provider: http({}), manifest: './a\0b' },
    'manifest-folder': { provider: http({}), manifest: './a\0b/c.json' },
    secret: { provider: http({ auth: { bearer: 'file:a\0b' } }), manifest: MANIFEST },
    'secret-folder': { provider: http({ auth: { bearer: 'file:a\0b/c' } }), manifest: MANIFEST },
    file: { provider: http({ tls: { ca: './a\0b' } }), manifest: MANIFEST },
    local: { provider: { kind: 'local', config: { file: './a\0b.mjs' } }, manifest: MANIFEST },
    watch: { provider: process({ watch: ['./a\0b'] }), manifest: MANIFEST },
  };
  return Object.fromEntries(
    Object.entries(bad).map(([name, rest]) => [
      `nul-${name}.json`,
      { module: `nul-${name}`, ...rest },
    ]),
  );
}

describe('a descriptor with a NUL character in a path', () => {
  const host = use(() =>
    startReloadHost(({ url }) => ({
      'good.json': describeModule('good', url, ROUTES),
    })),
  );

  const expectRejected = async () => {
    for (const file of Object.keys(describeBad(host.provider.url))) {
      const { reason } = await host.waitFor(file, 'refused');
      expect(reason, file).to.match(
        /^nul-[a-z-]+\.json:1:\d+ .*(?:NUL character|must be a (?:path|secret))/,
      );
    }
    expect(await host.get('good', '/items')).to.equal(200);
  };

  it('is rejected by a running host, and affects no other module', async () => {
    for (const [file, content] of Object.entries(describeBad(host.provider.url))) {
      host.write(file, content);
    }
    await expectRejected();
    host.write('late.json', describeModule('late', host.provider.url, ROUTES));
    await host.waitFor('late.json', 'live');
  });

  it('is rejected at start, and the host starts', async () => {
    await host.restart();
    await expectRejected();
  });
});
