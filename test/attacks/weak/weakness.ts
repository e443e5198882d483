import { connect } from 'node:net';
import { ATTACK_CORPUS } from '../corpus.js';

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
  /** Gets copies of calls. */
  readonly candidate: number;
  /** A server that no request may reach. */
  readonly bystander: number;
  /** A text that the host must not show. */
  readonly secret: string;
}

export interface WeakenedHost {
  /** The attacks that succeed there, and no other one that succeeds in some weakened host. */
  readonly attacks: readonly string[];
  readonly weaken: (ports: Surroundings) => Weakness;
  /** Its attacks fail at deadlines of many seconds, so they run beside others. */
  readonly waits?: boolean;
}

export type WeakenedHosts = Readonly<Record<string, WeakenedHost>>;

/** @param attacks ids; one that ends with `*` stands for all with this start */
export function weak(
  attacks: string,
  weaken: Weakness | WeakenedHost['weaken'],
  waits = false,
): WeakenedHost {
  const ids = attacks.split(' ').flatMap((id) => {
    if (!id.endsWith('*')) return [id];
    return ATTACK_CORPUS.map((attack) => attack.id).filter((name) =>
      name.startsWith(id.slice(0, -1)),
    );
  });
  return { attacks: ids, weaken: typeof weaken === 'function' ? weaken : () => weaken, waits };
}

export const NEVER = new Promise<null>(() => {});

/** Responds to matching requests in place of the host. */
export function answer(request: RegExp, response = formatOk('{}')): Weakness {
  return { respond: async (text) => (request.test(text) ? response : null) };
}

/** Sends matching requests to a server too, changed. */
export function send(
  request: RegExp,
  port: number,
  change: (text: string) => string,
  response: string | null = null,
): Weakness {
  return {
    respond: async (text) => {
      if (!request.test(text)) return null;
      await exchange(port, change(text));
      return response;
    },
  };
}

export function rewrite(part: RegExp, replacement: string): Weakness {
  return { changeRequest: (text) => text.replace(part, replacement) };
}

/** Changes the status of responses to attacks whose ids match. */
export function restate(attack: string, from: number, status: string): Weakness {
  const line = new RegExp(`^HTTP/1\\.1 ${from} .*`);
  return {
    changeResponse: (text) =>
      isOf(text, attack) ? text.replace(line, `HTTP/1.1 ${status}`) : text,
  };
}

/** Whether a request or response belongs to an attack whose id matches. */
export function isOf(text: string, attack: string): boolean {
  return new RegExp(`^x-request-id: (?:${attack})\\.`, 'm').test(text);
}

export function changeBody(text: string, change: (body: string) => string): string {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const changed = change(body);
  if (changed === body) return text;
  const length = `content-length: ${changed.length}`;
  return `${head.replace(/content-length: \d+/, length)}\r\n\r\n${changed}`;
}

/** The claims of the signed token of a request, as text. */
export function readPayload(text: string): string {
  const payload = /^authorization: bearer [^.]+\.([^.]+)/im.exec(text)?.[1] ?? '';
  return Buffer.from(payload, 'base64url').toString();
}

/** The same request with another target and token, on a connection that closes. */
export function readdress(text: string, target: string, token: string): string {
  return text
    .replace(/^(\S+) \S+ (.*)\r\n/, `$1 ${target} $2\r\nconnection: close\r\n`)
    .replace(/^authorization: .*\r$/im, `authorization: Bearer ${token}\r`);
}

export function formatOk(body: string, status = '200 OK'): string {
  const lines = ['content-type: application/json', `content-length: ${body.length}`];
  return [`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n');
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
