import type { RawHeader } from './raw-http.js';
import type { Scene } from './scene.js';

export interface CraftedRequest {
  /** Default `GET`. */
  readonly method?: string;
  /** The whole target in latin-1. Default: the scene's route. */
  readonly target?: string;
  /** `null`: none. Default: the scene's. */
  readonly token?: string | null;
  /** After `host` and `authorization`. */
  readonly headers?: readonly RawHeader[];
  /** Adds a `content-length`, and a JSON `content-type` unless the headers have one. */
  readonly body?: string | Buffer;
}

/** Creates a well-formed request, except for the given parts. */
export function craftRequest(scene: Scene, request: CraftedRequest = {}): Buffer {
  const { method = 'GET', target = scene.base + scene.route, headers = [], body } = request;
  const lines = [`${method} ${target} HTTP/1.1`, `host: ${scene.authority}`];
  const token = request.token === undefined ? scene.token : request.token;
  if (token !== null) lines.push(`authorization: Bearer ${token}`);
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  if (body === undefined) return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const bytes = Buffer.from(body);
  if (!headers.some(([name]) => name.toLowerCase() === 'content-type')) {
    lines.push('content-type: application/json');
  }
  lines.push(`content-length: ${bytes.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}

/** Creates a request with the scene's `host` and `authorization`, followed by exactly these lines. */
export function craftLines(
  scene: Scene,
  requestLine: string,
  lines: readonly string[],
  rest = '',
): Buffer {
  const head = [
    requestLine,
    `Host: ${scene.authority}`,
    `Authorization: Bearer ${scene.token}`,
    ...lines,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${rest}`, 'latin1');
}
