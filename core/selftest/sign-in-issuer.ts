import { generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { RecordingProvider, Script } from './recording-provider.js';
import { signClaims, TOKEN_AUDIENCE, type TokenIssuer } from './signed-tokens.js';

const CLIENT = 'selftest-console';
const TOKEN_PATH = '/token';
const METADATA = '/.well-known/openid-configuration';
const SLOW = '/slow';

/** The content of a code. Anyone can create one: the issuer knows no users. */
interface SignInCode {
  /** The nonce of the ID token. */
  readonly nonce: string;
  /** Whether another key signs the ID token. */
  readonly isForged: boolean;
}

/** An issuer at which every client is signed in, and one whose metadata never arrives. */
export interface SignInIssuer {
  readonly issuer: string;
  readonly slowIssuer: string;
  /** The entries of the setting `surfaces.console.oidc`. */
  readonly settings: readonly object[];
  /** The number of times that the code was exchanged for tokens. */
  countExchanges(code: string): number;
  /** Ends pending requests for metadata with an error. */
  release(): void;
}

/** @param server starts the server, which the caller closes */
export async function startSignInIssuer(
  tokens: TokenIssuer,
  start: (scripts: ReadonlyMap<string, Script>) => Promise<RecordingProvider>,
): Promise<SignInIssuer> {
  const otherKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const waiting: ServerResponse[] = [];
  const respond = (response: ServerResponse, body: object) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(body));
  };
  const server = await start(
    new Map<string, Script>([
      [METADATA, (_, response) => respond(response, describeIssuer(server.url))],
      [SLOW + METADATA, (_, response) => void waiting.push(response)],
      ['/jwks', (_, response) => respond(response, tokens.jwks)],
      [
        TOKEN_PATH,
        (_, response, { body }) => {
          const { nonce, isForged } = parseCode(readCode(body));
          const claims = { ...tokens.claims(), iss: server.url };
          const idToken = { ...claims, aud: CLIENT, nonce };
          respond(response, {
            token_type: 'Bearer',
            access_token: signClaims({ ...claims, aud: TOKEN_AUDIENCE }, tokens.key),
            id_token: signClaims(idToken, isForged ? otherKey : tokens.key),
          });
        },
      ],
    ]),
  );
  const [issuer, slowIssuer] = [server.url, server.url + SLOW];
  return {
    issuer,
    slowIssuer,
    settings: [issuer, slowIssuer].map((url) => ({
      issuer: url,
      client_id: CLIENT,
      client_secret: 'file:./client.secret',
    })),
    countExchanges: (code) =>
      server.requests.filter(({ target, body }) => target === TOKEN_PATH && readCode(body) === code)
        .length,
    release: () => {
      for (const response of waiting.splice(0)) response.writeHead(500).end();
    },
  };
}

export function createCode(code: SignInCode): string {
  return Buffer.from(JSON.stringify(code)).toString('base64url');
}

function readCode(body: Buffer): string {
  return new URLSearchParams(body.toString()).get('code') ?? '';
}

function parseCode(code: string): SignInCode {
  return JSON.parse(Buffer.from(code, 'base64url').toString()) as SignInCode;
}

function describeIssuer(url: string): object {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: url + TOKEN_PATH,
    jwks_uri: `${url}/jwks`,
    code_challenge_methods_supported: ['S256'],
  };
}
