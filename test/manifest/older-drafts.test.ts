import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { expect } from 'chai';
import { call, parseJson } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { listTools } from '../support/mcp/mcp-call.js';

const DRAFT = 'http://json-schema.org/draft-07/schema#';
const PAIR = {
  $schema: DRAFT,
  type: 'object',
  properties: { pair: { items: [{ type: 'number' }], additionalItems: { type: 'string' } } },
  dependencies: { pair: ['name'] },
};
const ROUTES = [
  {
    method: 'POST',
    path: '/pairs',
    capability: 'shop.use',
    operation: { operation_id: 'pairs', input_schema: PAIR },
  },
];
const AS = 'dev-service:tester:shop.use,modgate.modules.read';

describe('schemas of older drafts in a manifest', () => {
  const setup = useHost(
    ({ url }) => ({ 'shop.json': describeModule('shop', url, ROUTES, { mcp: { expose: 'all' } }) }),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );
  const post = (body: unknown) => {
    const headers: [string, string][] = [['content-type', 'application/json']];
    const target = '/modules/shop/http/pairs';
    const text = Buffer.from(JSON.stringify(body));
    return call(setup.host, { method: 'POST', target, as: AS, headers, body: text });
  };

  it('are enforced as their draft says', async () => {
    expect((await post({ pair: [1, 'x'], name: 'n' })).status).to.equal(200);
    const problem = expectProblem(await post({ pair: [1, 2] }), 400);
    const fields = problem['errors'].map(({ field }) => field);
    expect(fields).to.have.members(['/name', '/pair/1']);
  });

  it('are shown as 2020-12, without $schema', async () => {
    const response = await call(setup.host, { target: '/openapi.json', as: AS });
    const text = response.body.toString();
    expect(text).to.include('"prefixItems":[{"type":"number"}]').and.not.include('draft-07');
    const [tool] = await listTools(setup.host, { as: AS });
    const input = JSON.stringify(tool?.inputSchema);
    expect(input).to.include('"dependentRequired":{"pair":["name"]}').and.not.include('draft-07');
  });

  it('leave the digest as that of the manifest as it was written', async () => {
    const response = await call(setup.host, { target: '/modules', as: AS });
    const { modules } = parseJson(response) as { modules: { digest: string }[] };
    const { manifest } = describeModule('shop', setup.provider.url, ROUTES) as {
      manifest: { inline: object };
    };
    const written = canonicalize(manifest.inline) ?? '';
    const digest = `sha256:${createHash('sha256').update(written).digest('hex')}`;
    expect(modules[0]?.digest).to.equal(digest);
  });
});
