import { expect } from 'chai';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, listTools } from '../../support/mcp/mcp-call.js';

const PARAMETERS = {
  type: 'object',
  properties: {
    id: { type: 'integer', minimum: 1, description: 'The number of the item.' },
    name: { type: 'string', enum: ['a b', 'ü+'] },
    file: { pattern: '^x/' },
  },
};
const route = (
  path: string,
  operation_id: string,
  properties: readonly (keyof typeof PARAMETERS.properties)[],
) => ({
  method: 'GET',
  path,
  capability: 'shop.use',
  operation: {
    operation_id,
    path_params_schema: {
      ...PARAMETERS,
      properties: Object.fromEntries(properties.map((name) => [name, PARAMETERS.properties[name]])),
    },
  },
});
const ROUTES = [
  route('/items/{id}', 'item', ['id']),
  route('/names/{name}', 'named', ['name']),
  route('/files/{file...}', 'file', ['file']),
  route('/items/{id}/names/{name}', 'both', ['id', 'name']),
];

describe('the schema of path parameters', () => {
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeModule('shop', url, ROUTES, { mcp: { expose: 'all' } }),
      'seen.json': describeModule('seen', url, ROUTES, { schemas: { input: 'report' } }),
    }),
    { args: ['--surfaces', 'mcp'] },
  );
  const get = (path: string, module = 'shop') =>
    call(setup.host, { target: `/modules/${module}/http${path}` });
  const errorsOf = async (path: string) =>
    expectProblem(await get(path), 400, 'validation_failed').errors;

  it('accepts values that it describes, read as in a query', async () => {
    for (const path of [
      '/items/7',
      '/names/a%20b',
      '/names/%C3%BC+',
      '/files/x/y',
      '/items/1/names/a%20b',
    ]) {
      expect((await get(path)).status, path).to.equal(200);
    }
  });

  it('rejects other values and names the parameter', async () => {
    expect(await errorsOf('/items/x')).to.deep.equal([
      { field: 'path.id', reason: 'expected integer' },
    ]);
    expect(await errorsOf('/items/0')).to.deep.equal([
      { field: 'path.id', reason: 'expected at least 1' },
    ]);
    expect(await errorsOf('/files/y/x')).to.have.length(1);
    const both = await errorsOf('/items/0/names/c');
    expect(both.map(({ field }) => field)).to.deep.equal(['path.id', 'path.name']);
    expect((await get('/items/x', 'seen')).status).to.equal(200);
  });

  it('is part of the API description', async () => {
    const { paths } = parseJson(
      await call(setup.host, { target: '/openapi.json?module=shop' }),
    ) as {
      paths: Record<string, { get: { parameters: object[] } }>;
    };
    expect(paths['/modules/shop/http/items/{id}']?.get.parameters[0]).to.deep.equal({
      ...{ name: 'id', in: 'path', required: true, description: 'The number of the item.' },
      schema: PARAMETERS.properties.id,
    });
  });

  it('describes the arguments of tools', async () => {
    const [tool] = await listTools(setup.host, { module: 'shop' });
    expect(tool?.inputSchema['properties']).to.deep.equal({ id: PARAMETERS.properties.id });
    const result = await callTool(setup.host, 'shop_item', '{"id":7}');
    expect(result.isError).not.to.equal(true);
  });
});
