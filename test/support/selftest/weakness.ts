import { connect } from 'node:net';

/** How a proxy weakens the host behind it. Texts are latin-1, one for each part that arrives. */
export interface Weakness {
  /** Changes what a client sends. */
  readonly changeRequest?: (text: string) => string;
  /** Changes what the host responds. */
  readonly changeResponse?: (text: string) => string;
  /** Responds instead of the host, or before it; `null`: only the host responds. */
  readonly respond?: (text: string) => Promise<string | null>;
  /**
   * The end of a connection that the host closes; `null` leaves it open. @param last the last part
   * of the bytes that the host sent
   */
  readonly onClose?: (last: string) => string | null;
  /** Connects the client to this port of loopback instead, with this text in place of its own. */
  readonly bypass?: (text: string) => { readonly port: number; readonly text: string } | null;
  /** Reads whatever both sides send. */
  readonly isGreedy?: boolean;
}

/** Ports on loopback, and a secret. */
export interface Surroundings {
  readonly host: number;
  readonly provider: number;
  /** The provider of WebSockets. */
  readonly sockets: number;
  readonly introspection: number;
  /** Exchanges tokens, and is a provider. */
  readonly exchange: number;
  /** Gets copies of calls. */
  readonly candidate: number;
  /** A server that no request may reach. */
  readonly bystander: number;
  /** The address of the issuer of the console. */
  readonly issuer: number;
  /** Texts that the host must not show. */
  readonly secret: string;
}

export function changeBody(text: string, change: (body: string) => string): string {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const changed = change(body);
  if (changed === body) return text;
  const length = `content-length: ${changed.length}`;
  return `${head.replace(/content-length: \d+/, length)}\r\n\r\n${changed}`;
}

/** Whether the signed token of a request is for the subject. */
export function isFor(text: string, subject: string): boolean {
  return readPayload(text).includes(`"sub":"${subject}"`);
}

export function readPayload(text: string): string {
  const payload = /^authorization: bearer [^.]+\.([^.]+)/im.exec(text)?.[1] ?? '';
  return Buffer.from(payload, 'base64url').toString();
}

/** The same request with another target and token. */
export function readdress(text: string, target: string, token: string): string {
  return text
    .replace(/^(\S+) \S+ /, `$1 ${target} `)
    .replace(/^authorization: .*\r$/im, `authorization: Bearer ${token}\r`);
}

export function formatOk(body: string): string {
  const head = [
    'HTTP/1.1 200 OK',
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Sends a request and reads until the connection is closed. */
export function exchange(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
    });
    socket.on('error', reject).on('close', () => resolve(received));
    socket.write(request, 'latin1');
  });
}
