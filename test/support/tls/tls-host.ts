import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { authority, server } from '../certificates.js';
import { openHost, type RunningModgate } from '../open-host.js';
import { startModgate } from '../start-host.js';

/** A host that listens with TLS, and the files that it watches. Stop it in `after`. */
export interface TlsHost extends RunningModgate {
  readonly folder: string;
  write(name: string, text: string | object): string;
  stopAll(): Promise<void>;
}

interface TlsAnswer {
  readonly status: number;
  readonly body: string;
}

type Files = Readonly<Record<string, string | object>>;
type Arguments = (path: (name: string) => string) => readonly string[];

/** Runs in the process of the test. */
export function startTlsHost(files: Files, args: Arguments): Promise<TlsHost> {
  return startIn(files, args, openHost);
}

/** Runs in a separate process. */
export function startTlsProcess(files: Files, args: Arguments): Promise<TlsHost> {
  return startIn(files, args, startModgate);
}

async function startIn(
  files: Files,
  args: Arguments,
  start: (args: readonly string[]) => Promise<RunningModgate>,
): Promise<TlsHost> {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-tls-'));
  const write = (name: string, text: string | object) => {
    const path = join(folder, name);
    writeFileSync(path, typeof text === 'string' ? text : JSON.stringify(text), { mode: 0o600 });
    return path;
  };
  mkdirSync(join(folder, 'modules.d'));
  const cert = write('server.pem', server.cert);
  const key = write('server.key', server.key);
  for (const [name, text] of Object.entries(files)) write(name, text);
  try {
    const host = await start([
      ...['serve', '--env', 'development', '--port', '0', '--modules', join(folder, 'modules.d')],
      ...['--state', join(folder, 'state'), '--tls-cert', cert, '--tls-key', key],
      ...args((name) => join(folder, name)),
    ]);
    const stopAll = async () => {
      await host.stop();
      rmSync(folder, { recursive: true });
    };
    return { ...host, folder, write, stopAll };
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

/** Sends one request on a new connection. @throws when there is no response. */
export function ask(
  host: { readonly port: number },
  path: string,
  options: ConnectionOptions & { readonly token?: string } = {},
): Promise<TlsAnswer> {
  const { token, ...tls } = options;
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const sent = request(
      // The options of tls.connect that a request accepts too.
      {
        host: '127.0.0.1',
        port: host.port,
        path,
        headers,
        agent: false,
        ca: authority,
        ...(tls as object),
      },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text) => {
          body += text;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      },
    );
    sent.on('error', reject).end();
  });
}

/** Opens a connection. @throws when the handshake fails. */
export function shakeHands(
  host: { readonly port: number },
  options: ConnectionOptions = {},
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: host.port, ca: authority, ...options });
    socket.once('secureConnect', () => resolve(socket)).once('error', reject);
  });
}
