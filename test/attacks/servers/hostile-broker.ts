import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { FrameReader, toView } from '../../../plugins/amqp/frames.js';
import {
  CONFIRM_OK,
  CONSUME_OK,
  channelOk,
  frame,
  HEADER,
  HEARTBEAT,
  ids,
  long,
  METHOD,
  OPEN_OK,
  START,
  short,
  tune,
} from '../../support/amqp/broker-frames.js';
import { BROKER_SCRIPTS } from './broker-scripts.js';

export interface HostileBroker {
  readonly port: number;
  /** The paths of the requests, with the ids of their clients. */
  readonly requests: readonly { readonly path: string; readonly requestId: string }[];
  stop(): Promise<void>;
}

/** By class and method. A broker answers the others not at all. */
const REPLIES: Readonly<Record<string, (channel: number) => Buffer>> = {
  '10.11': () => tune(131_072, 10),
  '10.40': () => OPEN_OK,
  '10.50': () => frame(METHOD, 0, ids(10, 51)),
  '20.10': channelOk,
  '20.40': (channel) => frame(METHOD, channel, ids(20, 41)),
  '50.10': (channel) => frame(METHOD, channel, ids(50, 11), short('q'), long(1)),
  '60.20': () => CONSUME_OK,
  '85.10': () => CONFIRM_OK,
};
const MAX_FRAME_BYTES = 131_072;
/** Without heartbeats the host would lose an idle connection again and again. */
const BEAT_MS = 2_000;
const HTTP_RESPONSE =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}';

/**
 * A broker whose answers are scripted by the path of a request. A gateway that does not speak AMQP
 * gets a response of HTTP.
 */
export async function startHostileBroker(): Promise<HostileBroker> {
  const sockets = new Set<Socket>();
  const requests: { path: string; requestId: string }[] = [];
  const correlationIds: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', (first: Buffer) => {
      if (!first.subarray(0, 4).equals(Buffer.from('AMQP'))) return void socket.end(HTTP_RESPONSE);
      const beats = setInterval(() => socket.write(HEARTBEAT), BEAT_MS);
      socket.on('close', () => clearInterval(beats));
      let tag = 0;
      const nextTag = () => {
        tag += 1;
        return tag;
      };
      const answer = (read: ReadRequest) => {
        const { correlationId, path } = read;
        requests.push({ path, requestId: read.requestId });
        const [earlierId = correlationId] = correlationIds;
        const lastId = correlationIds.at(-1) ?? correlationId;
        correlationIds.push(correlationId);
        const script = BROKER_SCRIPTS[path.replace('/messages/', '')];
        script?.({ correlationId, earlierId, lastId, nextTag, socket });
      };
      const reader = new FrameReader(MAX_FRAME_BYTES, (each) => receive(each, socket, answer));
      socket.write(START);
      socket.on('data', (bytes: Buffer) => reader.read(bytes));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface ReadRequest {
  readonly correlationId: string;
  readonly path: string;
  readonly requestId: string;
}

function receive(bytes: Buffer, socket: Socket, answer: (read: ReadRequest) => void): void {
  const channel = bytes.readUInt16BE(1);
  if (bytes[0] === METHOD) {
    const method = `${bytes.readUInt16BE(7)}.${bytes.readUInt16BE(9)}`;
    const reply = REPLIES[method]?.(channel);
    if (reply !== undefined) socket.write(reply);
  } else if (bytes[0] === HEADER) {
    // The head of the frame, the class, and the length of the body come first.
    const [{ correlationId = '', headers = {} }] = toView(bytes).getProperties(19);
    answer({
      correlationId,
      path: String(headers['modgate-path']),
      requestId: String(headers['x-request-id']),
    });
  }
}
