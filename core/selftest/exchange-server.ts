import type { RecordingProvider, Script } from './recording-provider.js';

/** The module's provider gets a token on behalf of each caller. */
export const EXCHANGING_MODULE = 'exchanging';
/** The module's token endpoint redirects. */
export const REDIRECTED_MODULE = 'redirected';

/** The target of the redirect, on a server that no request may reach. */
export const REDIRECT_TARGET = '/stolen-token';

export function exchangedToken(subject: string): string {
  return `selftest-exchanged-${subject}`;
}

/** An authorization server that exchanges tokens, and the provider of both modules. */
export function createExchangeScripts(bystander: string): ReadonlyMap<string, Script> {
  return new Map<string, Script>([
    [
      '/token',
      (_, response, { body }) => {
        const access_token = exchangedToken(readSubject(body));
        respond(response, 200, { access_token, token_type: 'Bearer', expires_in: 300 });
      },
    ],
    [
      '/redirect',
      (_, response) =>
        void response.writeHead(307, { location: bystander + REDIRECT_TARGET }).end(),
    ],
    [
      '/answers/repeated',
      ({ headers }, response) => {
        respond(response, 409, { detail: `the token is ${headers.authorization ?? ''}` });
      },
    ],
  ]);
}

/** Returns the common parts of the descriptors of the two modules. */
export function describeExchange(url: string, path: '/token' | '/redirect', issuer: string) {
  const token_url = url + path;
  return {
    exchange: { issuer, token_url, client_id: 'selftest', client_secret: 'file:../client.secret' },
  };
}

export function tokenEndpointsOf({ url }: Pick<RecordingProvider, 'url'>): string[] {
  return [`${url}/token`, `${url}/redirect`];
}

function respond(response: Parameters<Script>[1], status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Reads the `sub` of the token to exchange. */
function readSubject(form: Buffer): string {
  const [, payload = ''] = (new URLSearchParams(form.toString()).get('subject_token') ?? '').split(
    '.',
  );
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString() || '{}');
  return String((claims as { readonly sub?: unknown }).sub ?? '');
}
