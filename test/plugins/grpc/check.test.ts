import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { checkJsonIn } from '../../support/cli/check-json.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { useEach } from '../../support/use.js';
import { describeLibrary } from './library-module.js';
import { LIBRARY_SET } from './library-server.js';

const ROUTES = [
  { method: 'POST', path: '/echo', operation: { grpc: 'library.v1.Echo/Echo' } },
  { method: 'POST', path: '/gone', operation: { grpc: 'library.v1.Echo/Gone' } },
  { method: 'GET', path: '/{odd}', operation: { grpc: 'library.v1.Library/ListBooks' } },
];
const GONE = "operation.grpc' calls 'library.v1.Echo/Gone', which is not described";

describe('modgate check of a grpc module', () => {
  const place = useEach(createWorkplace);

  async function check(config: object, manifest?: string): Promise<readonly string[]> {
    const descriptor = describeLibrary(ROUTES, 'grpc://127.0.0.1:9', {}, config)['library.json'];
    place.write('manifest.json', JSON.stringify(descriptor.manifest.inline, null, 1));
    const written = manifest === undefined ? descriptor : { ...descriptor, manifest };
    place.write('library.json', JSON.stringify(written, null, 1));
    const { findings } = await checkJsonIn(place, 'library.json');
    return findings.map(({ file, line, severity, message }) => {
      return `${file}:${line} ${severity} ${message}`;
    });
  }

  it('warns of routes whose methods the set describes otherwise, or not', async () => {
    const [gone, odd, ...others] = await check({});
    expect(gone).to.equal(`library.json:37 warning 'http_routes[1].${GONE}`);
    expect(odd).to.match(/^library\.json:45 warning 'http_routes\[2\]\.operation\.grpc' .*'odd'/);
    expect(others).to.deep.equal([]);
  });

  it('names the file of the manifest', async () => {
    const [gone] = await check({}, './manifest.json');
    expect(gone)
      .to.match(/manifest\.json:22 warning /)
      .and.include(GONE);
  });

  it('rejects a file that is not a set', async () => {
    const file = fileURLToPath(new URL('library.proto', LIBRARY_SET));
    expect(await check({ descriptors: { file } })).to.deep.equal([
      'library.json:null error descriptors.file must hold a FileDescriptorSet',
    ]);
  });

  it('asks no server', async () => {
    expect(await check({ descriptors: { reflection: true } })).to.deep.equal([]);
  });
});
