import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export type DnsRecord =
  | { readonly type: 'A' | 'AAAA'; readonly address: string }
  | {
      readonly type: 'SRV';
      readonly priority: number;
      readonly weight: number;
      readonly port: number;
      readonly target: string;
    };

export interface DnsQuestion {
  /** The name in lower case, without a dot at the end. */
  readonly name: string;
  /** `null` for an unsupported type. */
  readonly type: DnsRecord['type'] | null;
}

/** The reply of a server; `null` for none. */
export type DnsReply = {
  readonly rcode?: keyof typeof RCODES;
  readonly records?: readonly DnsRecord[];
} | null;

export interface DnsServer {
  /** `127.0.0.1:5353`, as `resolver.servers` has it. */
  readonly address: string;
  /** The questions that came by UDP or TCP. */
  readonly questions: readonly DnsQuestion[];
  close(): Promise<void>;
}

const RCODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 } as const;
const TYPES = { A: 1, AAAA: 28, SRV: 33 } as const;
const HEADER_BYTES = 12;
/** A longer reply makes the client repeat the question by TCP. */
const MAX_UDP_BYTES = 1_200;
const MAX_TCP_BYTES = 65_535;

/** Starts a DNS server on a free port of loopback. */
export async function startDnsServer(
  reply: (question: DnsQuestion) => DnsReply | Promise<DnsReply>,
): Promise<DnsServer> {
  const questions: DnsQuestion[] = [];
  const answer = async (query: Buffer, maxBytes: number): Promise<Buffer | null> => {
    const question = readQuestion(query);
    if (question === null) return null;
    questions.push(question);
    const answer = await reply(question);
    return answer === null ? null : encodeReply(query, question, answer, maxBytes);
  };
  const sockets = new Set<Socket>();
  const tcp = createServer((socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)).on('error', () => {}));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        void answer(received.subarray(2, end), MAX_TCP_BYTES).then((bytes) => {
          if (bytes !== null) socket.write(Buffer.concat([toUInt16(bytes.length), bytes]));
        });
        received = received.subarray(end);
      }
    });
  });
  await once(tcp.listen(0, '127.0.0.1'), 'listening');
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket('udp4', (query, { address, port }) => {
    void answer(query, MAX_UDP_BYTES).then((bytes) => {
      if (bytes !== null && !isClosed) udp.send(bytes, port, address);
    });
  });
  let isClosed = false;
  await once(udp.bind(port, '127.0.0.1'), 'listening');
  return {
    address: `127.0.0.1:${port}`,
    questions,
    close: async () => {
      isClosed = true;
      for (const socket of sockets) socket.destroy();
      udp.close();
      await once(tcp.close(), 'close');
    },
  };
}

function readQuestion(query: Buffer): DnsQuestion | null {
  if (query.length < HEADER_BYTES || query.readUInt16BE(4) !== 1) return null;
  const labels: string[] = [];
  let offset = HEADER_BYTES;
  for (;;) {
    const length = query[offset] ?? 0;
    if (length === 0) break;
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length).toLowerCase());
    offset += 1 + length;
  }
  if (query.length < offset + 5) return null;
  const code = query.readUInt16BE(offset + 1);
  const type = (Object.keys(TYPES) as DnsRecord['type'][]).find((name) => TYPES[name] === code);
  return { name: labels.join('.'), type: type ?? null };
}

function encodeReply(
  query: Buffer,
  { name, type }: DnsQuestion,
  { rcode = 'NOERROR', records = [] }: NonNullable<DnsReply>,
  maxBytes: number,
): Buffer {
  const question = Buffer.concat([
    encodeName(name),
    query.subarray(HEADER_BYTES + name.length + 2),
  ]);
  const encodedRecords = records.filter((record) => record.type === type).map(encodeRecord);
  const head = HEADER_BYTES + name.length + 2 + 4;
  const fitting = takeFitting(encodedRecords, maxBytes - head);
  const isCut = fitting.length < encodedRecords.length && maxBytes === MAX_UDP_BYTES;
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  // A response, authoritative, recursion desired and available.
  header.writeUInt16BE(0x8580 | (isCut ? 0x0200 : 0) | RCODES[rcode], 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(isCut ? 0 : fitting.length, 6);
  const body = question.subarray(0, head - HEADER_BYTES);
  return Buffer.concat([header, body, ...(isCut ? [] : fitting)]);
}

function takeFitting(records: readonly Buffer[], maxBytes: number): readonly Buffer[] {
  let size = 0;
  const end = records.findIndex((bytes) => {
    size += bytes.length;
    return size > maxBytes;
  });
  return end === -1 ? records : records.slice(0, end);
}

/** The name of each record is a pointer to the question. */
function encodeRecord(record: DnsRecord): Buffer {
  const data =
    record.type === 'SRV'
      ? Buffer.concat([
          toUInt16(record.priority),
          toUInt16(record.weight),
          toUInt16(record.port),
          encodeName(record.target),
        ])
      : encodeAddress(record.address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(TYPES[record.type], 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  const parts = labels.map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...parts, Buffer.alloc(1)]);
}

function encodeAddress(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [before = '', after = ''] = address.split('::');
  const read = (text: string) => text.split(':').filter((group) => group !== '');
  const [head, tail] = [read(before), read(after)];
  const groups = [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail];
  return Buffer.concat(groups.map((group) => toUInt16(Number.parseInt(group, 16))));
}

function toUInt16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
