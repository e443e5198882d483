import type { IncomingMessage, RequestListener } from 'node:http';
import type { Writable } from 'node:stream';
import {
  answerJson,
  type ProviderOptions,
  type ScriptedProvider,
  startProvider,
} from '../../support/provider.js';

/** The responses of a server by path; any other path gets 200 `{"ok":true}`. */
export type Scripts = Readonly<Record<string, RequestListener>>;

export const JSON_TYPE = { 'content-type': 'application/json' };
/** Part of every value that must not reach a client. */
export const SMUGGLED = 'smuggled';

export function startServer(
  scripts: Scripts = {},
  options: ProviderOptions = {},
): Promise<ScriptedProvider> {
  return startProvider((request, response) => {
    (scripts[pathOf(request)] ?? answerJson({ ok: true }))(request, response);
  }, options);
}

export function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

export function respond(
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): RequestListener {
  return (_, response) => response.writeHead(status, { ...JSON_TYPE, ...headers }).end(body);
}

/** Writes at the speed of the reader, until it stops. */
export function flood(to: Writable, bytes: string | Buffer): void {
  const isOpen = () => to.writable && !to.destroyed;
  const write = () => {
    while (isOpen() && to.write(bytes));
    if (isOpen()) to.once('drain', write);
  };
  write();
}
