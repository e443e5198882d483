import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { rejectStart } from '../../support/cli/reject-start.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import {
  CONTRACT_URL,
  SUPERSTRUCT_URL,
  writePlugin,
} from '../../support/isolation/write-plugin.js';
import { startHost } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { use } from '../../support/use.js';

const SECRET = 'the-key-of-an-account';

/** A plugin with one surface. */
function writeSurface(folder: string, name: string, prefix: string, open = ''): void {
  const manifest = { kinds: undefined, surfaces: [name] };
  const entry = `import { defineSurface, secretReference, SurfaceError } from ${JSON.stringify(CONTRACT_URL)};
import { object, optional } from ${JSON.stringify(SUPERSTRUCT_URL)};
const config = object({ key: optional(secretReference()) });
const open = ({ key }, context) => { ${open} return { fetch: async () => new Response('ok') }; };
export default { surfaces: [
  defineSurface({ name: '${name}', prefix: '${prefix}', config, open }),
] };`;
  writePlugin(folder, { name: `acme-${name}`, manifest, entry });
}

describe('the start of a host with surfaces', () => {
  const folder = createFolder();
  const plugins = join(folder, 'plugins');

  before(() => {
    writeSurface(plugins, 'one', '/shared');
    writeSurface(plugins, 'below', '/shared/extra');
    writeSurface(plugins, 'two', '/shared');
    writeSurface(plugins, 'plane', '/modules');
    writeSurface(plugins, 'known', '/.well-known/x');
    writeSurface(plugins, 'odd', '/Odd/path');
    writeSurface(plugins, 'broken', '/broken', "throw new Error('no room');");
    const reason = "'no account for ' + context.secret(key).reveal()";
    writeSurface(
      plugins,
      'unfit',
      '/unfit',
      `throw new SurfaceError('validation_failed', ${reason});`,
    );
    writeSurface(plugins, 'fine', '/fine');
    const manifest = { kinds: undefined, surfaces: ['bad'] };
    writePlugin(plugins, { name: 'acme-bad', manifest, entry: 'export default 1;' });
  });

  async function failureOf(surfaces: object): Promise<string> {
    const config = join(folder, 'modgate.json');
    const state = join(folder, 'state');
    writeFileSync(config, JSON.stringify({ plugins: [plugins], surfaces, state }));
    const args = ['serve', '--config', config, '--port', '0', '--env', 'development'];
    const { code, stderr } = await rejectStart([...args, '--modules', folder], { KEY: SECRET });
    expect(code).to.equal(2);
    return stderr;
  }

  it('ends with 2 when two surfaces have one prefix, naming both', async () => {
    const text = await failureOf({ one: { enabled: true }, two: { enabled: true } });
    expect(text).to.contain("surface 'two' of plugin 'acme-two' has the prefix '/shared'");
    expect(text).to.contain("which surface 'one' of plugin 'acme-one' has");
  });

  it('ends with 2 when a prefix is below that of another surface, naming both', async () => {
    const text = await failureOf({ below: { enabled: true }, one: { enabled: true } });
    expect(text).to.contain(
      "surface 'below' of plugin 'acme-below' has the prefix '/shared/extra'",
    );
    expect(text).to.contain("below that of surface 'one' of plugin 'acme-one'");
  });

  it('ends with 2 when a prefix belongs to the host', async () => {
    const text = await failureOf({ plane: { enabled: true } });
    expect(text).to.contain("surface 'plane' of plugin 'acme-plane' has the prefix '/modules'");
    expect(text).to.contain("which belongs to the host's own routes");
    expect(await failureOf({ known: { enabled: true } })).to.contain(
      "'/.well-known/x', which belongs",
    );
  });

  it('ends with 2 for a config that the surface rejects, and a bad setting', async () => {
    const text = await failureOf({ fine: { enabled: true, colour: 'blue' } });
    expect(text).to.match(/surface 'fine': unknown key .*colour/);
    expect(await failureOf({ fine: true })).to.contain('names of surfaces');
    expect(await failureOf({ fine: { enabled: 'yes' } })).to.contain('names of surfaces');
  });

  it('ends with 2 for a config that does not fit, without a secret in the reason', async () => {
    const text = await failureOf({ unfit: { enabled: true, key: 'env:KEY' } });
    expect(text).to.contain("surface 'unfit': no account for [redacted]");
  });

  describe('whose code fails', () => {
    const host = use(() =>
      startHost({
        args: ['--plugins', plugins, '--surfaces', 'broken,bad,ghost,fine,odd'],
      }),
    );

    it('serves without it, and says why', async () => {
      const response = await call(host, { target: '/plugins' });
      const { surfaces } = parseJson(response) as unknown as {
        surfaces: { name: string; state: string; reason: string | null }[];
      };
      const find = (name: string) => surfaces.find((surface) => surface.name === name);
      expect(find('fine')).to.include({ state: 'open', reason: null });
      expect(find('one')).to.include({ state: 'off', reason: null });
      expect(find('broken')).to.include({ state: 'failed', reason: 'no room' });
      expect(find('bad')?.reason).to.contain("plugin 'acme-bad' has a default export without");
      expect(find('ghost')?.reason).to.contain('no plugin has that surface');
      expect(find('odd')?.reason).to.contain('its prefix must be one segment');
      const failed = host.logs().filter(({ msg }) => msg === 'surface failed');
      expect(failed.map(({ surface }) => surface)).to.have.members([
        ...['broken', 'bad', 'ghost', 'odd'],
      ]);
    });

    it('answers for it with 503 where its prefix is known', async () => {
      expectProblem(await call(host, { target: '/broken' }), 503);
      expectProblem(await call(host, { target: '/ghost' }), 404);
      expect((await call(host, { target: '/fine/x' })).body.toString()).to.equal('ok');
      expectProblem(await call(host, { target: '/shared' }), 404);
    });
  });
});
