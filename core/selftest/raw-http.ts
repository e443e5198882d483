import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export type RawHeader = readonly [name: string, value: string];

export interface ReceivedResponse {
  readonly status: number;
  readonly reason: string;
  /** The headers in wire order, with names as received. */
  readonly headers: readonly RawHeader[];
  readonly body: Buffer;
}

interface ReadOptions {
  /** The response to a HEAD has no body, regardless of its headers. */
  readonly toHead?: boolean;
  /** Milliseconds, default 15,000. */
  readonly deadlineMs?: number;
}

const DEFAULT_DEADLINE_MS = 15_000;
const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

export interface RawAddress {
  readonly host: string;
  readonly port: number;
  /** Absent for plain HTTP. `ca` has the authorities to trust instead of the system's, PEM. */
  readonly tls?: { readonly ca: Buffer | null };
}

/** A connection that sends exactly the given bytes and reads complete responses. */
export class RawConnection {
  readonly #socket: Socket;
  readonly #waiting = new Set<() => void>();
  #received = Buffer.alloc(0);
  #closed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    // A reset counts as a close: earlier bytes can still be read.
    socket.on('error', () => this.#close());
    socket.on('end', () => this.#close());
    socket.on('close', () => this.#close());
  }

  static open(port: number): Promise<RawConnection> {
    return RawConnection.to({ port, host: '127.0.0.1' });
  }

  /** @throws the error of the connection, or of the certificate. */
  static to({ port, host, tls }: RawAddress): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const servername = isIP(host) === 0 ? host : undefined;
      const socket =
        tls === undefined
          ? connect({ port, host, allowHalfOpen: true })
          : connectTls({
              ...{ port, host },
              ...(servername !== undefined && { servername }),
              ...(tls.ca !== null && { ca: tls.ca }),
            });
      socket.once('error', reject);
      socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
        socket.off('error', reject);
        resolve(new RawConnection(socket));
      });
    });
  }

  /** Writes bytes; strings are latin-1. Ignores a closed peer, whose response can still be read. */
  write(bytes: string | Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(toBuffer(bytes));
  }

  /** Ends the sending side and keeps reading. */
  end(): void {
    this.#socket.end();
  }

  /** Stops reading, so that the peer must buffer its data. */
  pause(): void {
    this.#socket.pause();
  }

  /** Reads the next response, also a 1xx. @throws Error at the close or the deadline. */
  async read(options: ReadOptions = {}): Promise<ReceivedResponse> {
    const toHead = options.toHead ?? false;
    let parsed = parseResponse(this.#received, toHead, this.#closed);
    await this.#until(() => {
      parsed = parseResponse(this.#received, toHead, this.#closed);
      return parsed !== null || this.#closed;
    }, options.deadlineMs);
    if (parsed === null) {
      throw new Error(`closed before a complete response: ${JSON.stringify(this.unread)}`);
    }
    this.#received = this.#received.subarray(parsed.length);
    return parsed.response;
  }

  /** Reads the next response that is not a 1xx. */
  async readFinal(options: ReadOptions = {}): Promise<ReceivedResponse> {
    const response = await this.read(options);
    return response.status < 200 ? this.readFinal(options) : response;
  }

  /** Resolves when the peer has closed. Rejects at the deadline. */
  closed(deadlineMs?: number): Promise<void> {
    return this.#until(() => this.#closed, deadlineMs);
  }

  /** Resolves when the peer has closed, or has sent more. Rejects at the deadline. */
  closedOrSent(deadlineMs: number): Promise<void> {
    return this.#until(() => this.#closed || this.#received.length > 0, deadlineMs);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Bytes that have arrived but were not read, as latin-1. */
  get unread(): string {
    return this.#received.toString('latin1');
  }

  /** Bytes that the peer has not accepted yet. */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #close(): void {
    this.#closed = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #until(condition: () => boolean, deadlineMs = DEFAULT_DEADLINE_MS): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const wake = () => {
        if (!condition()) return;
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(wake);
        reject(
          new Error(`no complete response within ${deadlineMs} ms: ${JSON.stringify(this.unread)}`),
        );
      }, deadlineMs);
      this.#waiting.add(wake);
    });
  }
}

/** All values of a header, by case-insensitive name. */
export function headerValues(headers: readonly RawHeader[], name: string): string[] {
  return headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
}

/** The value of a header, `undefined` if absent. @throws Error for several values. */
export function headerValue(headers: readonly RawHeader[], name: string): string | undefined {
  const values = headerValues(headers, name);
  if (values.length > 1) throw new Error(`header ${name} has ${values.length} values`);
  return values[0];
}

function toBuffer(bytes: string | Uint8Array): Uint8Array {
  return typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
}

interface Parsed {
  readonly response: ReceivedResponse;
  /** The size of the complete response on the wire. Bytes. */
  readonly length: number;
}

function parseResponse(received: Buffer, toHead: boolean, closed: boolean): Parsed | null {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const bodyStart = headEnd + HEAD_END.length;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n');
  const match = /^HTTP\/1\.[01] (\d{3}) ?(.*)$/.exec(statusLine);
  if (match === null) throw new Error(`not a status line: ${JSON.stringify(statusLine)}`);
  const status = Number(match[1]);
  const headers = lines.map(parseHeaderLine);
  const rest = received.subarray(bodyStart);
  const isBodyless = toHead || status < 200 || status === 204 || status === 304;
  const body = isBodyless
    ? { bytes: Buffer.alloc(0), length: 0 }
    : parseBody(headers, rest, closed);
  if (body === null) return null;
  return {
    response: { status, reason: match[2] ?? '', headers, body: body.bytes },
    length: bodyStart + body.length,
  };
}

function parseHeaderLine(line: string): RawHeader {
  const colon = line.indexOf(':');
  if (colon < 1) throw new Error(`not a header line: ${JSON.stringify(line)}`);
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

interface ParsedBody {
  readonly bytes: Buffer;
  readonly length: number;
}

function parseBody(
  headers: readonly RawHeader[],
  rest: Buffer,
  closed: boolean,
): ParsedBody | null {
  if (headerValue(headers, 'transfer-encoding') === 'chunked') return parseChunks(rest);
  const declared = headerValue(headers, 'content-length');
  if (declared === undefined) return closed ? { bytes: rest, length: rest.length } : null;
  const length = Number(declared);
  return rest.length < length ? null : { bytes: rest.subarray(0, length), length };
}

function parseChunks(rest: Buffer): ParsedBody | null {
  const chunks: Buffer[] = [];
  for (let offset = 0; ; ) {
    const lineEnd = rest.indexOf(LINE_END, offset);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(rest.toString('latin1', offset, lineEnd), 16);
    const start = lineEnd + LINE_END.length;
    const end = start + size;
    if (rest.length < end + LINE_END.length) return null;
    offset = end + LINE_END.length;
    if (size === 0) return { bytes: Buffer.concat(chunks), length: offset };
    chunks.push(rest.subarray(start, end));
  }
}
