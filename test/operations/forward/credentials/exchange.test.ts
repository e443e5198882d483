import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { headerValue } from '../../../../core/selftest/raw-http.js';
import { OPERATOR, SECRET, useExchangeHost } from '../../../support/auth/use-exchange-host.js';
import { callConsole, signIn } from '../../../support/console/console-client.js';
import { answerError, answerToken, exchangedToken } from '../../../support/exchange-server.js';
import { call, parseJson } from '../../../support/http/call.js';
import { expectProblem } from '../../../support/http/expect-problem.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const CALLERS = { callers: ['user', 'service'] };

describe('a module that exchanges tokens', () => {
  const setup = useExchangeHost((describeOn) => ({
    'crm.json': describeOn(
      'crm',
      { audience: 'crm', scopes: ['read', 'write'], client_auth: 'post' },
      CALLERS,
    ),
    // Discovery names its token endpoint.
    'found.json': describeOn('found', { token_url: undefined }, CALLERS),
    'elsewhere.json': describeOn('elsewhere', { token_url: 'https://elsewhere.example/token' }),
    'unknown.json': describeOn('unknown', { issuer: 'https://unknown.example' }),
    'down.json': describeOn(
      'down',
      {},
      {
        ...CALLERS,
        breaker: { failures: 1, open_ms: 60_000 },
        retry: { attempts: 2 },
      },
    ),
    'own.json': describeOn(
      'own',
      { host: { scopes: ['manifest'] } },
      {
        ...CALLERS,
        manifest: { from: 'provider' },
      },
    ),
    'short.json': describeOn('short', {}, { ...CALLERS, limits: { timeout_ms: 300 } }),
  }));
  const seen: string[] = [];

  after(() => {
    for (const token of seen) expect(setup.host.output()).to.not.include(token);
    expect(setup.host.output()).to.not.include(SECRET).and.to.not.include('exchanged-');
  });

  const newToken = async (subject: string, claims: object = {}) => {
    const token = await setup.tokenOf(subject, claims);
    seen.push(token);
    return token;
  };
  const send = (as: string | null, module = 'crm', method = 'GET') =>
    call(setup.host, { method, target: `/modules/${module}/http/items`, as });
  const readText = async (target: string) =>
    (await call(setup.host, { target, as: OPERATOR })).body.toString();
  const recordOf = async (response: Awaited<ReturnType<typeof send>>) => {
    const id = headerValue(response.headers, 'x-request-id');
    return JSON.parse(await readText(`/calls?request_id=${id}`)).calls[0];
  };
  const explainProvider = async (module: string): Promise<string> => {
    const target = `/explain?method=GET&target=/modules/${module}/http/items`;
    const { checks } = JSON.parse(await readText(target)) as {
      checks: { check: string; detail: string }[];
    };
    return checks.find(({ check }) => check === 'provider')?.detail ?? '';
  };
  const lastAuthorization = () => setup.provider.requests.at(-1)?.headers.authorization;

  it('sends a token on behalf of the caller, which it requests once', async () => {
    const token = await newToken('ann');
    for (let count = 0; count < 3; count += 1) expect((await send(token)).status).to.equal(200);
    expect(lastAuthorization()).to.equal(`Bearer ${exchangedToken('ann', 1)}`);
    const [request, ...others] = setup.server.requests;
    expect(others).to.deep.equal([]);
    expect(Object.fromEntries(request?.form ?? [])).to.deep.equal({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: 'crm',
      scope: 'read write',
      client_id: 'gateway',
      client_secret: SECRET,
    });
  });

  it('requests one token for the calls of a caller that wait', async () => {
    const token = await newToken('ann');
    const all = await Promise.all(Array.from({ length: 8 }, () => send(token)));
    expect(all.map(({ status }) => status)).to.deep.equal(Array(8).fill(200));
    expect(setup.server.requests).to.have.length(1);
  });

  it('never sends the token of one caller for another', async () => {
    const callers = ['ann', 'bob', 'eve'];
    const tokens = await Promise.all(callers.map((subject) => newToken(subject)));
    for (let round = 0; round < 2; round += 1) {
      for (const [at, token] of tokens.entries()) {
        const { data } = parseJson(await send(token)) as { data: { value: string } };
        expect(data.value).to.match(new RegExp(`^Bearer exchanged-${callers[at]}-\\d+$`));
      }
    }
    expect(setup.server.requests.map(({ subject }) => subject)).to.deep.equal(callers);
  });

  it('uses the endpoint that discovery names, with the settings of the module', async () => {
    const token = await newToken('ann');
    expect((await send(token)).status).to.equal(200);
    expect((await send(token, 'found')).status).to.equal(200);
    expect(setup.server.requests.map(({ form }) => form.get('audience'))).to.deep.equal([
      'crm',
      null,
    ]);
  });

  it('rejects every other caller with 403, and says so', async () => {
    const foreign = await setup.foreignTokenOf('ann');
    for (const as of ['dev-user:ann:crm.read', 'dev-service:me:crm.read', foreign]) {
      const response = await send(as);
      expectProblem(response, 403, 'forbidden');
      expect(parseJson(response).detail).to.equal(
        'the module exchanges the token of its caller, and there is none for this caller',
      );
      expect(await recordOf(response)).to.include({
        step: 'provider',
        reason: 'exchange',
        failure: 'refused',
        failure_detail: 'the caller has no token of auth.exchange.issuer',
      });
    }
    expect(setup.server.requests).to.deep.equal([]);
  });

  for (const status of [400, 200]) {
    it(`answers 403 for 5 s to a caller whose token the endpoint rejects with ${status}, and to no other`, async () => {
      const [ann, bob] = [await newToken(`ann-${status}`), await newToken(`bob-${status}`)];
      setup.server.answer((response, request) =>
        request.subject.startsWith('ann')
          ? answerError(status, 'invalid_grant')(response, request)
          : answerToken({ access_token: 'exchanged-bob' })(response, request),
      );
      const rejected = await send(ann);
      expectProblem(rejected, 403, 'forbidden');
      expect(rejected.body.toString()).to.not.include('invalid_grant');
      expect((await recordOf(rejected)).failure_detail).to.equal('token endpoint: invalid_grant');
      expect((await send(ann)).status).to.equal(403);
      expect((await send(bob)).status).to.equal(200);
      expect(setup.server.requests.map(({ subject }) => subject)).to.deep.equal([
        `ann-${status}`,
        `bob-${status}`,
      ]);
    });
  }

  it('is unavailable for all while the endpoint fails, and no breaker counts it', async () => {
    const [ann, bob] = [await newToken('ann'), await newToken('bob')];
    setup.server.answer(answerError(503));
    const failed = await send(ann, 'down');
    expectProblem(failed, 502);
    expect(await recordOf(failed)).to.include({
      failure: 'unavailable',
      failure_detail: 'token endpoint: status 503',
      attempts: 1,
    });
    expect((await send(bob, 'down')).status).to.equal(502);
    expect(setup.server.requests).to.have.length(1);
    expect(await explainProvider('down')).to.include(
      'the last request for a token failed: token endpoint: status 503',
    );
    setup.server.answer(null);
    const isServing = async () => (await send(bob, 'down')).status === 200;
    await waitUntil('the token endpoint is asked again', isServing);
    const { modules } = JSON.parse(await readText('/modules'));
    const module = modules.find(({ name }: { name: string }) => name === 'down');
    expect(module.endpoints[0]).to.include({ state: 'up', failures: 0 });
  });

  it('masks a token that the provider repeats, in Problems and records', async () => {
    const token = await newToken('ann');
    const problem = await send(token, 'crm', 'DELETE');
    expectProblem(problem, 409, 'provider_error');
    expect(parseJson(problem).detail).to.equal('you sent Bearer [redacted]');
    for (const target of ['/calls', '/descriptors?module=crm', '/modules']) {
      const text = await readText(target);
      expect(text).to.not.include('exchanged-').and.to.not.include(SECRET);
      expect(text).to.not.include(token);
    }
    expect(await readText('/calls')).to.include('[redacted]');
  });

  it('does not repeat a token that the token endpoint sends back as its error', async () => {
    const token = await newToken('ann');
    setup.server.answer((response, request) =>
      answerError(400, request.form.get('subject_token')?.slice(0, 60))(response, request),
    );
    const response = await send(token);
    expect(response.status).to.equal(403);
    expect((await recordOf(response)).failure_detail).to.equal('token endpoint: status 400');
  });

  it('rejects an endpoint and an issuer that the issuers file does not name', async () => {
    const { modules } = JSON.parse(await readText('/modules'));
    const reasonOf = (module: string) =>
      JSON.stringify(modules.find((entry: { name: string }) => entry.name === module));
    expect(reasonOf('elsewhere')).to.include("must be one of the issuer's token_endpoints");
    expect(reasonOf('unknown')).to.include('is not in the issuers file');
  });

  it('opens modules once the issuers file names what they need, and leaves the others', async () => {
    const read = async (name: string) => {
      const { modules } = JSON.parse(await readText('/modules'));
      return modules.find((entry: { name: string }) => entry.name === name);
    };
    const { since } = await read('crm');
    const file = join(setup.folder, 'issuers.json');
    const { issuers } = JSON.parse(readFileSync(file, 'utf8'));
    const [moduleIssuer, ...others] = issuers;
    const wider = {
      ...moduleIssuer,
      token_endpoints: [...moduleIssuer.token_endpoints, 'https://elsewhere.example/token'],
    };
    const added = { ...moduleIssuer, issuer: 'https://unknown.example' };
    writeFileSync(file, JSON.stringify({ issuers: [wider, ...others, added] }));
    for (const name of ['elsewhere', 'unknown']) {
      await waitUntil(`${name} is live`, async () => (await read(name)).state === 'live');
    }
    expect((await read('crm')).since).to.equal(since);
  });

  it('drops a token that the provider rejects, and calls once more with a new one', async () => {
    const token = await newToken('ann');
    setup.server.answer((response, request) => {
      const isFirst = setup.server.requests.length === 1;
      const access_token = isFirst ? 'exchanged-stale' : 'exchanged-fresh';
      answerToken({ access_token })(response, request);
    });
    expect((await send(token)).status).to.equal(200);
    expect(lastAuthorization()).to.equal('Bearer exchanged-fresh');
    expect(setup.server.requests).to.have.length(2);
  });

  it('uses the token behind a session of the console', async () => {
    const scope = 'crm.read console.admin modgate.modules.read';
    const token = await newToken('ann', { scope });
    const cookie = await signIn(setup.host, token);
    const response = await callConsole(setup.host, {
      path: '/modules/crm/http/items',
      cookie,
    });
    expect(response.status, response.body.toString()).to.equal(200);
    expect(lastAuthorization()).to.equal(`Bearer ${exchangedToken('ann', 1)}`);
  });

  it('requests the manifest with a token of the host, by client credentials', async () => {
    const token = await newToken('ann');
    expect((await send(token, 'own')).status).to.equal(200);
    const manifestRequest = setup.provider.requests.find(({ target }) =>
      target.endsWith('/manifest.json'),
    );
    expect(manifestRequest?.headers.authorization).to.match(/^Bearer exchanged-host-\d+$/);
  });

  it('ends a call at its deadline', async () => {
    const token = await newToken('ann');
    setup.server.answer(() => {});
    const response = await send(token, 'short');
    expect(response.status).to.equal(502);
    expect((await recordOf(response)).failure).to.equal('timeout');
  });
});
