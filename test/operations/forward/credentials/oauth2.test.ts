import { expect } from 'chai';
import { headerValue } from '../../../../core/selftest/raw-http.js';
import { call, parseJson } from '../../../support/http/call.js';
import { expectProblem } from '../../../support/http/expect-problem.js';
import { describeModule } from '../../../support/http/modules.js';
import { waitUntil } from '../../../support/http/wait-until.js';
import { answerJson, startProvider } from '../../../support/provider.js';
import { startHost } from '../../../support/start-host.js';
import { use } from '../../../support/use.js';

const TOKEN = 'token-that-nobody-may-read';
const SECRET = 'secret-that-nobody-may-read';
const ROUTES = [
  { method: 'GET', path: '/items', capability: 'crm.read' },
  { method: 'DELETE', path: '/items', capability: 'crm.read' },
];
const AS = 'dev-service:me:crm.read,modgate.calls.read,modgate.modules.read';

describe('a module with OAuth 2', () => {
  let isDown = false;

  const issuer = use(() =>
    startProvider((request, response) => {
      if (isDown) response.writeHead(503).end();
      else answerJson({ access_token: TOKEN, token_type: 'Bearer' })(request, response);
    }),
  );
  // Repeats what it got.
  const provider = use(() =>
    startProvider((request, response) => {
      const { authorization = '' } = request.headers;
      const encoded = Buffer.from(`x:${authorization}`).toString('base64');
      const detail = `you sent ${authorization}, or ${encoded}`;
      response.writeHead(request.method === 'DELETE' ? 409 : 200, {
        'content-type': 'application/json',
      });
      response.end(JSON.stringify({ detail, value: authorization }));
    }),
  );
  const host = use(() => {
    const oauth2 = {
      token_url: `${issuer.url}/token`,
      client_id: 'gateway',
      client_secret: 'env:CRM_SECRET',
    };
    const describeOn = (module: string) =>
      describeModule(module, provider.url, ROUTES, {
        provider: { kind: 'http', config: { endpoints: [provider.url], auth: { oauth2 } } },
        provider_errors: 'passthrough',
        records: { capture_bytes: 4096 },
        breaker: { failures: 1, open_ms: 60_000 },
        retry: { attempts: 2 },
      });
    return startHost({
      env: { CRM_SECRET: SECRET },
      files: { 'crm.json': describeOn('crm'), 'late.json': describeOn('late') },
    });
  });

  after(async () => {
    expect(host.output()).to.not.include(TOKEN).and.to.not.include(SECRET);
  });

  const send = (method: string, module = 'crm') =>
    call(host, { method, target: `/modules/${module}/http/items`, as: AS });
  const readText = async (target: string) => (await call(host, { target, as: AS })).body.toString();

  it('sends the token to the provider', async () => {
    expect((await send('GET')).status).to.equal(200);
    expect(provider.requests.at(-1)?.headers.authorization).to.equal(`Bearer ${TOKEN}`);
    expect(issuer.requests).to.have.length(1);
  });

  it('masks a token that the provider repeats, in Problems and records', async () => {
    const problem = await send('DELETE');
    expectProblem(problem, 409, 'provider_error');
    expect(parseJson(problem).detail).to.equal('you sent Bearer [redacted], or [redacted]');
    for (const target of ['/calls', '/descriptors?module=crm', '/modules']) {
      const text = await readText(target);
      expect(text).to.not.include(TOKEN).and.to.not.include(SECRET);
    }
    expect(await readText('/calls')).to.include('[redacted]');
  });

  it('is unavailable while no token can be had, and no breaker counts it', async () => {
    isDown = true;
    const requested = issuer.requests.length;
    const failed = await send('GET', 'late');
    expectProblem(failed, 502);
    expect(failed.body.toString()).to.not.include('token endpoint');
    expect(issuer.requests).to.have.length(requested + 1);
    const id = headerValue(failed.headers, 'x-request-id');
    const [record] = JSON.parse(await readText(`/calls?request_id=${id}`)).calls;
    expect(record).to.include({
      failure: 'unavailable',
      failure_detail: 'token endpoint: status 503',
      attempts: 1,
    });
    const { modules } = JSON.parse(await readText('/modules'));
    const late = modules.find(({ name }: { name: string }) => name === 'late');
    expect(late.endpoints[0]).to.include({ state: 'up', failures: 0 });
    isDown = false;
    const isServing = async () => (await send('GET', 'late')).status === 200;
    await waitUntil('the token endpoint is asked again', isServing);
    // The other module still has its token.
    expect((await send('GET')).status).to.equal(200);
  });
});
