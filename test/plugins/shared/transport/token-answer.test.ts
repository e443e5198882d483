import { expect } from 'chai';
import { Secret } from '../../../../core/contract/index.js';
import { TokenEndpoint } from '../../../../plugins/shared/transport/tokens/token-endpoint.js';
import { useExchange } from '../../../support/provider/use-exchange.js';
import { answerJson, type ScriptedProvider, startProvider } from '../../../support/provider.js';

describe('the response of a token endpoint', () => {
  const { keep } = useExchange();
  const requestAt = (url: string) =>
    new TokenEndpoint(
      { token_url: `${url}/token`, client_id: 'me', client_secret: 'env:SECRET' },
      () => new Secret('secret'),
    ).request({});

  for (const [title, members, seconds] of [
    ['without token_type', { token_type: undefined }, 3600],
    ['with an empty token_type', { token_type: '' }, 3600],
    ['with the type BearerToken', { token_type: 'BearerToken' }, 3600],
    ['whose expires_in is null', { expires_in: null }, 300],
    ['whose expires_in is a text', { expires_in: '3600' }, 3600],
    ['with a list of scopes', { scope: ['crm.read', 'crm.write'] }, 3600],
    ['with other members of any type', { id_token: 7, refresh_token: [], error: null }, 3600],
  ] as const) {
    it(`gives its token ${title}`, async () => {
      const answer = { access_token: 'token-1', token_type: 'Bearer', expires_in: 3600 };
      const issuer = await keep(startProvider(answerJson({ ...answer, ...members })));
      const { value, lifetimeMs } = await requestAt(issuer.url);
      expect(value.reveal()).to.equal('token-1');
      expect(lifetimeMs).to.equal(seconds * 1_000);
    });
  }

  for (const [title, status, type] of [
    ['the status 201', 201, 'application/json'],
    ['another content-type', 200, 'text/plain'],
    ['no content-type', 200, null],
  ] as const) {
    it(`gives its token with ${title}`, async () => {
      const token = JSON.stringify({ access_token: 'token-1', token_type: 'bearer' });
      const issuer = await keep(
        startProvider((_request, response) => {
          response.writeHead(status, type === null ? {} : { 'content-type': type }).end(token);
        }),
      );
      expect((await requestAt(issuer.url)).value.reveal()).to.equal('token-1');
    });
  }

  for (const [title, members, detail] of [
    [
      'a token that is no text',
      { access_token: { hush: 'hush' } },
      'access_token is not visible ASCII',
    ],
    ['a lifetime in words', { expires_in: 'hush' }, 'expires_in is not a number of seconds'],
    ['a negative lifetime', { expires_in: -1 }, 'expires_in is not a number of seconds'],
    ['an error and the status 200', { error: 'invalid_scope' }, 'invalid_scope'],
    ['a sentence as its error', { error: 'hush, said it' }, 'error instead of a token'],
  ] as const) {
    it(`fails with ${title}, and says so`, async () => {
      const answer = { access_token: 'hush', token_type: 'Bearer', ...members };
      const issuer = await keep(startProvider(answerJson(answer)));
      const failure = await requestAt(issuer.url).catch((error: unknown) => error);
      expect(failure).to.have.property('detail', `token endpoint: ${detail}`);
    });
  }

  it('is not requested where a discovery document names no endpoint, and the failure says so', async () => {
    const issuer: ScriptedProvider = await keep(
      startProvider((request, response) => answerJson({ issuer: issuer.url })(request, response)),
    );
    const config = { issuer: issuer.url, client_id: 'me', client_secret: 'env:SECRET' };
    const request = new TokenEndpoint(config, () => new Secret('secret')).request({});
    const failure = await request.catch((error: unknown) => error);
    const detail = 'token endpoint: token_endpoint of the discovery is not valid';
    expect(failure).to.have.property('detail', detail);
  });
});
