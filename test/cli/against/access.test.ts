import { expect } from 'chai';
import { createWorkplace } from '../../support/cli/run-in.js';
import { describeModule } from '../../support/http/modules.js';
import { startHost } from '../../support/start-host.js';
import { use, useEach } from '../../support/use.js';

const ENDPOINT = 'http://127.0.0.1:9';
const READER = { MODGATE_TOKEN: 'dev-service:ops:modgate.modules.read' };
const ROUTES = [{ method: 'GET', path: '/items', capability: 'shop.use' }];
const OFFICE = '10.0.0.0/8';

const serve = (name: string, overrides: object = {}) =>
  describeModule(name, ENDPOINT, ROUTES, overrides);

describe('modgate check --against, for addresses and mounts', () => {
  const host = use(() =>
    startHost({
      files: {
        'closed.json': serve('closed', { allow: { addresses: [OFFICE, 'fd00::/8'] } }),
        'open.json': serve('open', { mount: [{ path: '/open' }] }),
        'shelf.json': serve('shelf', {
          mount: [{ path: '/shelf' }, { host: 'shelf.test', path: '/' }, { path: '/kept' }],
        }),
      },
    }),
  );

  const place = useEach(createWorkplace);

  beforeEach(() => {
    write('closed', { allow: { addresses: [OFFICE, 'fd00::/8'] } });
    write('open', { mount: [{ path: '/open' }] });
    write('shelf', {
      mount: [{ path: '/shelf' }, { host: 'shelf.test', path: '/' }, { path: '/kept' }],
    });
  });

  const write = (name: string, overrides: object) =>
    place.write(`modules.d/${name}.json`, serve(name, overrides));
  const compare = async (...args: string[]) => {
    const commandLine = ['check', ...args, '--against', host.url];
    const { code, stdout } = await place.run(commandLine, READER);
    expect(code).to.equal(0);
    return stdout.slice(stdout.indexOf('against')).trim().split('\n').slice(1);
  };

  it('finds no change in the same files', async () => {
    expect(await compare()).to.deep.equal(['  = 3 modules unchanged']);
  });

  it('reports addresses that are no longer the only ones', async () => {
    write('closed', {});
    expect(await compare()).to.deep.equal([
      '  ~ closed changed',
      '      + permission address opens every address',
      '  = 2 modules unchanged',
    ]);
  });

  it('reports addresses that are added, widened and narrowed', async () => {
    write('closed', { allow: { addresses: ['10.1.0.0/16', 'fc00::/7', '192.0.2.1'] } });
    expect(await compare()).to.deep.equal([
      '  ~ closed changed',
      '      - permission address opens 10.0.0.0/8',
      '      + permission address opens fc00::/7',
      '      + permission address opens 192.0.2.1',
      '  = 2 modules unchanged',
    ]);
    write('open', { mount: [{ path: '/open' }], allow: { addresses: [OFFICE] } });
    expect(await compare('modules.d/open.json')).to.deep.equal([
      '  ~ open changed',
      '      - permission address opens every address',
      '  = 0 modules unchanged',
    ]);
  });

  it('reports mounts that move to another module, come and vanish', async () => {
    write('open', { mount: [{ path: '/shelf' }, { path: '/new' }] });
    write('shelf', { mount: [{ path: '/kept' }] });
    expect(await compare()).to.deep.equal([
      '  ~ open changed',
      '      - mount /open',
      "      + mount /shelf, which comes from module 'shelf'",
      '      + mount /new',
      '  ~ shelf changed',
      "      - mount /shelf, which goes to module 'open'",
      '      - mount shelf.test/',
      '  = 1 module unchanged',
    ]);
    const json = await place.run(['check', '--against', host.url, '--json'], READER);
    const { modules } = (JSON.parse(json.stdout) as { against: { modules: object[] } }).against;
    expect(modules[1]).to.deep.include({
      module: 'shelf',
      mounts: {
        added: [],
        removed: [
          { mount: '/shelf', module: 'open' },
          { mount: 'shelf.test/', module: null },
        ],
      },
    });
  });

  it('reports the mounts of a module that is added or removed, and no addresses of it', async () => {
    place.write('modules.d/shelf.json', {
      ...(serve('shelf') as object),
      enabled: false,
    });
    write('later', { mount: [{ path: '/shelf' }], allow: { addresses: [OFFICE] } });
    const lines = await compare();
    expect(lines).to.include("      - mount /shelf, which goes to module 'later'");
    expect(lines).to.include("      + mount /shelf, which comes from module 'shelf'");
    expect(lines.filter((line) => line.includes('address'))).to.deep.equal([]);
  });

  it('takes the mounts of files that are not checked from the host', async () => {
    write('open', { mount: [{ path: '/open' }, { path: '/shelf/open' }] });
    expect(await compare('modules.d/open.json')).to.deep.equal([
      '  ~ open changed',
      '      + mount /shelf/open',
      "      + permission mount opens /shelf/open, below /shelf of module 'shelf'",
      '  = 0 modules unchanged',
    ]);
  });
});
