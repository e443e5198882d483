import { connect } from 'node:net';

/** All bytes that were received on a closed connection. */
interface Received {
  /** Latin-1. */
  readonly text: string;
  /** Whether the connection was reset, so that its last bytes may be missing. */
  readonly isReset: boolean;
}

const PROBLEM_MEMBERS = ['type', 'title', 'status', 'code', 'detail', 'request_id', 'errors'];
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [ -~]*$/;
const HEADER_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;

/** Sends the bytes and reads until the peer closes. @throws when it does not close by the deadline. */
export function exchange(
  address: { readonly host: string; readonly port: number },
  bytes: Buffer,
  { end, deadlineMs }: { readonly end: boolean; readonly deadlineMs: number },
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let error: NodeJS.ErrnoException | null = null;
    const socket = connect({ ...address, allowHalfOpen: true });
    const timer = setTimeout(() => {
      error = new Error(
        `the connection had no response and was not closed within ${deadlineMs} ms`,
      );
      error.code = 'LATE';
      socket.destroy();
    }, deadlineMs);
    socket.on('connect', () => (end ? socket.end(bytes) : socket.write(bytes)));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => socket.end());
    socket.on('error', (cause) => {
      error = cause;
    });
    socket.on('close', () => {
      clearTimeout(timer);
      if (error?.code === 'LATE') reject(error);
      else if (error?.code === 'ECONNREFUSED') reject(new Error('the host is not listening'));
      else resolve({ text: Buffer.concat(chunks).toString('latin1'), isReset: error !== null });
    });
  });
}

/**
 * Parses every response of a connection. @returns their statuses.
 * @throws for a response that is not HTTP/1.1, a 500, and an error response without a Problem.
 */
export function parseResponses({ text, isReset }: Received, mayBeHead: boolean): number[] {
  const statuses: number[] = [];
  for (let rest = text; rest !== ''; ) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) {
      if (isReset) return statuses;
      throw new Error('a response ends within its head');
    }
    const head = readHead(rest.slice(0, headEnd));
    rest = rest.slice(headEnd + 4);
    statuses.push(head.status);
    if (head.status === 500) throw new Error('the host returned 500');
    if (head.length === 0 && head.status >= 400 && !mayBeHead) {
      throw new Error('an error response has no body');
    }
    if (head.length === 0 || (mayBeHead && /^(?:HTTP\/|$)/.test(rest))) continue;
    const body = readBody(rest, head.length);
    if (body === null && isReset) return statuses;
    if (body === null) throw new Error('a response ends within its body');
    if (head.status >= 400) assertProblem(body.text, head.status);
    rest = body.rest;
  }
  return statuses;
}

/** A body, and what follows it on the connection. */
interface Body {
  readonly text: string;
  readonly rest: string;
}

/** @returns `null` for one that is not complete */
function readBody(text: string, length: number | 'chunked' | 'rest'): Body | null {
  if (length === 'chunked') return readChunks(text);
  if (length === 'rest') return { text, rest: '' };
  if (text.length < length) return null;
  return { text: text.slice(0, length), rest: text.slice(length) };
}

/** @returns `null` when the last chunk is missing */
function readChunks(text: string): Body | null {
  let body = '';
  for (let rest = text; ; ) {
    const size = /^([0-9a-f]{1,8})\r\n/.exec(rest);
    if (size === null && /^[0-9a-f]{0,8}\r?$/.test(rest)) return null;
    if (size === null) throw new Error('a response has an invalid chunk');
    const length = Number.parseInt(size[1] as string, 16);
    const start = size[0].length;
    const end = start + length;
    if (rest.length < end + 2) return null;
    if (rest.slice(end, end + 2) !== '\r\n') throw new Error('a response has an invalid chunk');
    body += rest.slice(start, end);
    rest = rest.slice(end + 2);
    if (length === 0) return { text: body, rest };
  }
}

/** @returns a length of 0 for a status without a body */
function readHead(text: string): { status: number; length: number | 'chunked' | 'rest' } {
  const [first = '', ...lines] = text.split('\r\n');
  const status = Number(STATUS_LINE.exec(first)?.[1]);
  if (!(status >= 100 && status < 600)) throw new Error('a response has no status line');
  if (!lines.every((line) => HEADER_LINE.test(line)))
    throw new Error('a response has an invalid header');
  const framing = lines.filter((line) => /^(?:content-length|transfer-encoding):/i.test(line));
  if (status < 200 || status === 204 || status === 304) return { status, length: 0 };
  const [line = ''] = framing;
  // The response to HTTP/1.0, which knows no chunks.
  if (framing.length === 0 && lines.some((other) => /^connection: *close$/i.test(other))) {
    return { status, length: 'rest' };
  }
  if (framing.length !== 1) throw new Error('a response has no framing, or several');
  if (/^transfer-encoding: *chunked$/i.test(line)) return { status, length: 'chunked' };
  const length = Number(/^content-length: *(\d+)$/i.exec(line)?.[1] ?? Number.NaN);
  if (Number.isNaN(length)) throw new Error('a response has an invalid content-length');
  return { status, length };
}

function assertProblem(text: string, status: number): void {
  const problem = JSON.parse(Buffer.from(text, 'latin1').toString()) as Record<string, unknown>;
  const missing = PROBLEM_MEMBERS.find((member) => !Object.hasOwn(problem, member));
  if (missing !== undefined) throw new Error(`a Problem has no ${missing}`);
  if (problem['status'] !== status)
    throw new Error('a Problem has another status than its response');
}
