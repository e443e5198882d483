import { join } from 'node:path';
import { expect } from 'chai';
import {
  placeSpecialFile,
  SPECIAL_FILES,
  type SpecialFile,
} from '../support/documents/special-file.js';
import { buildManifest, describeModule, toRoutes } from '../support/http/modules.js';
import { startReloadProcess } from '../support/reload/reload-host.js';
import { use } from '../support/use.js';

const ROUTES = toRoutes(['GET /items'], 'use');
const KINDS = Object.keys(SPECIAL_FILES) as SpecialFile[];
/** A link that leads nowhere is ignored, and so is a folder. */
const REASONS = /regular file|larger than|be read|does not exist|leads nowhere/;

/** Descriptors that name a file, by what it is. */
function describeUses(url: string, file: string): Record<string, object> {
  const http = (config: object) => ({ kind: 'http', config: { endpoints: [url], ...config } });
  const manifest = { inline: buildManifest('special', ROUTES) };
  return {
    manifest: { provider: http({}), manifest: file },
    secret: { provider: http({ auth: { bearer: `file:${file}` } }), manifest },
    authority: {
      provider: { kind: 'http', config: { endpoints: ['https://127.0.0.1:1'], tls: { ca: file } } },
      manifest,
    },
    code: { provider: { kind: 'local', config: { file } }, manifest },
    program: {
      provider: { kind: 'process', config: { command: ['node'], watch: [file] } },
      manifest,
    },
  };
}

describe('a module whose file is not a regular file of a bounded size', () => {
  const host = use(() =>
    startReloadProcess(({ url }) => ({
      'good.json': describeModule('good', url, ROUTES),
    })),
  );

  before(() => {
    for (const kind of KINDS) {
      const name = kind.replace(' ', '-');
      placeSpecialFile(kind, join(host.modules, 'files', `${name}.json`));
      placeSpecialFile(kind, join(host.modules, `itself-${name}.json`));
      const uses = describeUses(host.provider.url, `./files/${name}.json`);
      for (const [use, rest] of Object.entries(uses)) {
        host.write(`${use}-${name}.json`, { module: `${use}-${name}`, ...rest });
      }
    }
  });

  for (const use of Object.keys(describeUses('', ''))) {
    it(`is rejected as ${use}`, async () => {
      for (const kind of KINDS) {
        const { reason } = await host.waitFor(`${use}-${kind.replace(' ', '-')}.json`, 'refused');
        expect(reason, kind).to.match(REASONS);
      }
    });
  }

  it('is rejected or ignored as descriptor', async () => {
    for (const kind of ['pipe', 'device', 'huge'] as const) {
      const entry = await host.entry(`itself-${kind}.json`);
      if (entry !== undefined) expect(entry.reason, kind).to.match(REASONS);
    }
  });

  it('affects no other module, at start neither', async () => {
    expect(await host.get('good', '/items')).to.equal(200);
    host.write('late.json', describeModule('late', host.provider.url, ROUTES));
    await host.waitFor('late.json', 'live');
    await host.restart('SIGTERM');
    await host.waitFor('late.json', 'live');
    expect(await host.get('good', '/items')).to.equal(200);
  });
});
