import { join } from 'node:path';
import { expect } from 'chai';
import { SchemaRegistry } from '../../../core/schema/compile-schema.js';
import { convert, jsonBody, OK } from '../../support/cli/convert-operation.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

const component = (name: string) => `#/components/schemas/${name}`;
const refer = (...names: string[]) => names.map((name) => ({ $ref: component(name) }));

/** No alternative says which values its `method` has, as in documents that are generated. */
const METHOD = { type: 'object', required: ['method'] };
const SCHEMAS = {
  WithPassword: {
    ...METHOD,
    properties: { method: { type: 'string' }, password: { type: 'string' } },
    required: ['method', 'password'],
  },
  WithCode: { ...METHOD, properties: { method: { type: 'string' }, code: { type: 'integer' } } },
  WithKey: { ...METHOD, properties: { method: { type: 'string' }, key: { type: 'string' } } },
};
const MAPPING = {
  password: component('WithPassword'),
  code: 'WithCode',
  key: component('WithKey'),
};

const login = (overrides: object) => ({
  openapi: '3.0.3',
  info: { title: 'Sign-in', version: '1' },
  paths: { '/login': { post: { ...jsonBody({ $ref: component('Login') }), responses: OK } } },
  components: {
    schemas: {
      ...SCHEMAS,
      Login: {
        oneOf: refer('WithPassword', 'WithCode', 'WithKey'),
        discriminator: { propertyName: 'method', mapping: MAPPING },
        ...overrides,
      },
    },
  },
});

/** Finds what the imported schema of a body reports, by place. */
function findReasons(body: unknown, overrides: object, others: object = {}) {
  const { paths, components } = login(overrides);
  const schemas = { ...components.schemas, ...others };
  const { manifest } = convert({ paths, components: { schemas } }, '3.1.0');
  const schema = manifest.http_routes[0]?.operation?.input_schema ?? true;
  const compiled = new SchemaRegistry(manifest.schemas ?? {}).compile(schema);
  return Object.fromEntries(
    compiled.findViolations(body).map(({ pointer, reason }) => [pointer, reason]),
  );
}

describe('an imported schema with a discriminator', () => {
  it('checks no alternative of a value that names two', () => {
    const named = (member: string) => ({
      ...{ type: 'object', required: ['method', member] },
      properties: { method: { enum: ['x'] } },
    });
    const overrides = {
      oneOf: refer('First', 'Second'),
      discriminator: { propertyName: 'method' },
    };
    const others = { First: named('a'), Second: named('b') };
    expect(findReasons({ method: 'x', a: 1 }, overrides, others)).to.deep.equal({});
    expect(findReasons({ method: 'x' }, overrides, others)).not.to.deep.equal({});
  });

  it('accepts a value that is valid in several alternatives', () => {
    expect(findReasons({ method: 'password', password: 'a' }, {})).to.deep.equal({});
    expect(findReasons({ method: 'code', code: 1, password: 'a' }, {})).to.deep.equal({});
  });

  it('checks the alternative that is named, and reports its violations alone', () => {
    expect(findReasons({ method: 'password' }, {})).to.deep.equal({ '/password': 'missing' });
    const wrong = findReasons({ method: 'code', code: 'a', key: 1 }, {});
    expect(wrong).to.deep.equal({ '/code': 'expected integer' });
  });

  it('names alternatives by their components without a mapping', () => {
    const discriminator = { propertyName: 'method' };
    const wrong = findReasons({ method: 'WithCode', code: 'a' }, { discriminator });
    expect(wrong).to.deep.equal({ '/code': 'expected integer' });
  });

  it('names alternatives by the values that they allow without a mapping', () => {
    const discriminator = { propertyName: 'method' };
    const properties = { method: { enum: ['c'] }, code: { type: 'integer' } };
    const others = { WithCode: { allOf: [{ ...METHOD, properties }] } };
    const wrong = findReasons({ method: 'c', code: 'a' }, { discriminator }, others);
    expect(wrong).to.deep.equal({ '/code': 'expected integer' });
    expect(findReasons({ method: 'c', code: 1 }, { discriminator }, others)).to.deep.equal({});
  });

  it('accepts in any alternative a value that names none', () => {
    for (const method of ['other', 'WithCode']) {
      expect(findReasons({ method, code: 1 }, {})).to.deep.equal({});
    }
    expect(findReasons({ method: 1 }, {})).to.have.property('');
    const nullable = { oneOf: [...refer('WithCode', 'WithKey'), { type: 'null' }] };
    expect(findReasons(null, nullable)).to.deep.equal({});
  });

  it('keeps what stands beside its alternatives', () => {
    const allOf = [{ required: ['id'] }];
    const wrong = findReasons({ method: 'code', code: 'a' }, { allOf });
    expect(wrong).to.deep.equal({ '/id': 'missing', '/code': 'expected integer' });
    expect(findReasons({ method: 'code', id: 1 }, { allOf })).to.deep.equal({});
  });
});

describe('a module imported with a discriminator', () => {
  let provider: EchoProvider;
  let host: RunningHost;
  const place = createWorkplace();

  before(async () => {
    [provider, host] = await Promise.all([startEchoProvider(), startHost()]);
    place.write('login.json', login({}));
    const { code, stderr } = await place.run([
      ...['import', 'openapi', 'login.json', '--module', 'signin'],
      ...['--endpoint', provider.url, '--out', join(host.directory, 'modules.d')],
    ]);
    expect(code, stderr).to.equal(0);
  });

  after(async () => {
    await Promise.all([provider.close(), host.stop()]);
  });

  it('accepts what its service takes, and names what the service would reject', async () => {
    const post = async (body: object) => {
      const response = await fetch(`${host.url}/modules/signin/http/login`, {
        method: 'POST',
        headers: {
          authorization: 'Bearer dev-service:me:signin.login.write',
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      });
      return { code: response.status, text: await response.text() };
    };
    await waitUntil('the module to be served', async () => {
      return (await post({ method: 'password', password: 'a' })).code === 200;
    });
    const { code, text } = await post({ method: 'password' });
    expect(code).to.equal(400);
    expect(text).to.include('password').and.not.include('alternatives');
  });
});
