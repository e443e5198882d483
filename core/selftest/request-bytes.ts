import { REQUEST_IDS } from '../lib/header-names.js';
import type { RawHeader } from './raw-http.js';
import type { Scene } from './scene.js';

export interface CraftedRequest {
  /** Default `GET`. */
  readonly method?: string;
  /** The whole target in latin-1. Default: `path` below the module. */
  readonly target?: string;
  /** Default: the scene's route. */
  readonly path?: string;
  /** `null` for none. Default: the scene's token. */
  readonly token?: string | null;
  /** The headers after `host` and `authorization`. */
  readonly headers?: readonly RawHeader[];
  /** Adds a `content-length`, and a JSON `content-type` unless the headers have one. */
  readonly body?: string | Buffer;
}

/** Creates a well-formed request, except for the given parts. */
export function craftRequest(scene: Scene, request: CraftedRequest = {}): Buffer {
  const { method = 'GET', path = scene.route, headers = [], body } = request;
  const { target = scene.base + path } = request;
  const lines = [`${method} ${target} HTTP/1.1`, `host: ${scene.authority}`];
  const token = request.token === undefined ? scene.token : request.token;
  if (token !== null) lines.push(`authorization: Bearer ${token}`);
  const sent = new Set(headers.map(([name]) => name.toLowerCase()));
  lines.push(...craftMark(scene).filter((line) => !sent.has(line.split(':', 1)[0] ?? '')));
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  if (body === undefined) return joinLines(lines);
  const bytes = Buffer.from(body);
  if (!headers.some(([name]) => name.toLowerCase() === 'content-type')) {
    lines.push('content-type: application/json');
  }
  lines.push(`content-length: ${bytes.length}`);
  return Buffer.concat([joinLines(lines), bytes]);
}

/** Returns the lines that attribute a request, and the calls of a provider, to the attack. */
export function craftMark({ mark }: Scene): string[] {
  return REQUEST_IDS.map((name) => `${name}: ${mark}`);
}

/** Creates a request with the `host`, the `authorization` and the mark of the scene, followed by these lines. */
export function craftLines(
  scene: Scene,
  requestLine: string,
  lines: readonly string[],
  rest = '',
): Buffer {
  const [host, authorization] = [
    `Host: ${scene.authority}`,
    `Authorization: Bearer ${scene.token}`,
  ];
  return joinLines([requestLine, host, authorization, ...craftMark(scene), ...lines], rest);
}

/** Creates a head of exactly these lines, in latin-1. */
export function joinLines(lines: readonly string[], rest = ''): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${rest}`, 'latin1');
}
