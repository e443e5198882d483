import { connect } from 'node:net';

/** What came back on a connection that is over. */
export interface Answers {
  /** Latin-1. */
  readonly text: string;
  /** The connection was reset: its last bytes may be missing. */
  readonly isReset: boolean;
}

const PROBLEM_MEMBERS = ['type', 'title', 'status', 'code', 'detail', 'request_id', 'errors'];
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [ -~]*$/;
const HEADER_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;

/** Sends the bytes and reads until the other side has closed. @throws when it has not by the deadline. */
export function exchange(
  address: { readonly host: string; readonly port: number },
  bytes: Buffer,
  { end, deadlineMs }: { readonly end: boolean; readonly deadlineMs: number },
): Promise<Answers> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let error: NodeJS.ErrnoException | null = null;
    const socket = connect({ ...address, allowHalfOpen: true });
    const timer = setTimeout(() => {
      error = new Error(`the connection was neither answered nor closed in ${deadlineMs} ms`);
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
      else if (error?.code === 'ECONNREFUSED') reject(new Error('nobody listens any more'));
      else resolve({ text: Buffer.concat(chunks).toString('latin1'), isReset: error !== null });
    });
  });
}

/**
 * Judges every answer of a connection, and returns their statuses.
 * @throws for what is not HTTP/1.1, a 500, and a refusal that is no Problem.
 */
export function judgeAnswers({ text, isReset }: Answers, mayBeHead: boolean): number[] {
  const statuses: number[] = [];
  for (let rest = text; rest !== ''; ) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) {
      if (isReset) return statuses;
      throw new Error('an answer ends within its head');
    }
    const head = readHead(rest.slice(0, headEnd));
    rest = rest.slice(headEnd + 4);
    statuses.push(head.status);
    if (head.status === 500) throw new Error('the host answered 500');
    if (head.length === 0 && head.status >= 400 && !mayBeHead) {
      throw new Error('a refusal has no body');
    }
    if (head.length === 0 || (mayBeHead && /^(?:HTTP\/|$)/.test(rest))) continue;
    if (rest.length < head.length && isReset) return statuses;
    if (rest.length < head.length) throw new Error('an answer ends within its body');
    if (head.status >= 400) judgeProblem(rest.slice(0, head.length), head.status);
    rest = rest.slice(head.length);
  }
  return statuses;
}

function readHead(text: string): { status: number; length: number } {
  const [first = '', ...lines] = text.split('\r\n');
  const status = Number(STATUS_LINE.exec(first)?.[1]);
  if (!(status >= 100 && status < 600)) throw new Error('an answer has no status line');
  if (!lines.every((line) => HEADER_LINE.test(line))) throw new Error('an answer has a bad header');
  const lengths = lines.filter((line) => /^content-length:/i.test(line));
  if (status < 200 || status === 204 || status === 304) return { status, length: 0 };
  const length = Number(/^content-length: *(\d+)$/i.exec(lengths[0] ?? '')?.[1] ?? Number.NaN);
  if (lengths.length !== 1 || Number.isNaN(length)) {
    throw new Error('an answer has no content-length, or several');
  }
  return { status, length };
}

function judgeProblem(text: string, status: number): void {
  const problem = JSON.parse(Buffer.from(text, 'latin1').toString()) as Record<string, unknown>;
  const missing = PROBLEM_MEMBERS.find((member) => !Object.hasOwn(problem, member));
  if (missing !== undefined) throw new Error(`a Problem has no ${missing}`);
  if (problem['status'] !== status) throw new Error('a Problem tells another status');
}
