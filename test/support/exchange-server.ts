import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt } from 'jose';

export interface TokenRequest {
  readonly form: URLSearchParams;
  readonly authorization: string;
  /** The subject of the exchanged token; empty for another grant. */
  readonly subject: string;
}

type Answer = (response: ServerResponse, request: TokenRequest) => void;

export interface ExchangeServer {
  readonly url: string;
  readonly tokenUrl: string;
  /** The requests in the order of their arrival. */
  readonly requests: readonly TokenRequest[];
  /** Sets how to answer; `null`: with a token. */
  answer(answer: Answer | null): void;
  reset(): void;
  close(): Promise<void>;
}

/** The token that the server issues for a subject, the `count`-th of all. */
export function exchangedToken(subject: string, count: number): string {
  return `exchanged-${subject || 'host'}-${count}`;
}

export function answerToken(members: object): Answer {
  return (response) => answerJson(response, 200, { token_type: 'Bearer', ...members });
}

export function answerError(status: number, error?: string): Answer {
  return (response) => answerJson(response, status, error === undefined ? {} : { error });
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** An authorization server with token exchange (RFC 8693) and client credentials. */
export async function startExchangeServer(): Promise<ExchangeServer> {
  const requests: TokenRequest[] = [];
  let scripted: Answer | null = null;
  let issued = 0;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (request.url?.startsWith('/.well-known/') === true) {
      answerJson(response, 200, { issuer: url, token_endpoint: `${url}/token` });
      return;
    }
    if (request.url !== '/token') {
      response.writeHead(404).end();
      return;
    }
    const form = new URLSearchParams(Buffer.concat(pieces).toString());
    const token = form.get('subject_token');
    const subject = token?.includes('.') ? (decodeJwt(token).sub ?? '') : '';
    const received = { form, authorization: request.headers.authorization ?? '', subject };
    requests.push(received);
    issued += 1;
    const members = { access_token: exchangedToken(subject, issued), expires_in: 300 };
    (scripted ?? answerToken(members))(response, received);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    tokenUrl: `${url}/token`,
    requests,
    answer: (answer) => {
      scripted = answer;
    },
    reset: () => {
      scripted = null;
      issued = 0;
      requests.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
