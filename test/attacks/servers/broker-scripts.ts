import type { Socket } from 'node:net';
import {
  ack,
  BODY,
  blocked,
  cancel,
  deliver,
  field,
  frame,
  HEARTBEAT,
  ids,
  listField,
  long,
  METHOD,
  message,
  nack,
  nestedField,
  RETURN,
  short,
  UNBLOCKED,
} from '../../support/amqp/broker-frames.js';

/** What a script knows of a request. */
export interface BrokerRequest {
  readonly correlationId: string;
  /** That of the first request. */
  readonly earlierId: string;
  /** That of the request before, which may have had no answer. */
  readonly lastId: string;
  /** The tag of the next delivery. */
  readonly nextTag: () => number;
  readonly socket: Socket;
}

type BrokerScript = (request: BrokerRequest) => void;

export const OWN = '"own"';
export const SPOOFED = '"spoofed"';
const LONG_BYTES = 6_000_000;
const FLOOD_BYTES = 64 * 1_048_576;
const MANY = 10_000;
const BEAT_MS = 200;

const text = (body: string) => Buffer.from(body);

const answer = ({ nextTag }: BrokerRequest, correlationId: string | undefined, body: string) =>
  Buffer.concat([
    deliver(nextTag()),
    message(correlationId === undefined ? {} : { correlationId }, text(body)),
  ]);

const answerOwn = (request: BrokerRequest) => answer(request, request.correlationId, OWN);

/** Sends other bytes before the answer. */
const before =
  (bytesOf: (request: BrokerRequest) => Buffer): BrokerScript =>
  (request) =>
    request.socket.write(Buffer.concat([bytesOf(request), answerOwn(request)]));

const spoofAs = (idOf: (request: BrokerRequest) => string | undefined) =>
  before((request) => answer(request, idOf(request), SPOOFED));

/** An answer with these headers. */
const withHeaders =
  (...headers: readonly Buffer[]): BrokerScript =>
  ({ correlationId, nextTag, socket }) =>
    socket.write(
      Buffer.concat([deliver(nextTag()), message({ correlationId, headers }, text(SPOOFED))]),
    );

/** The head of an answer whose body has this length. */
const announce = ({ correlationId, nextTag }: BrokerRequest, size: number) =>
  Buffer.concat([deliver(nextTag()), message({ correlationId }, Buffer.alloc(0), size)]);

/** Answers that the host drops, before the one that it has to find. */
export const SPOOFS: Readonly<Record<string, readonly [title: string, script: BrokerScript]>> = {
  'no-id': ['an answer without an id', spoofAs(() => undefined)],
  'empty-id': ['an answer with an empty id', spoofAs(() => '')],
  'earlier-id': ['an answer with the id of an earlier call', spoofAs((each) => each.earlierId)],
  'last-id': ['a late answer to the call before', spoofAs((each) => each.lastId)],
  'part-id': [
    'an answer with a part of the id',
    spoofAs(({ correlationId }) => correlationId.slice(0, -1)),
  ],
  'case-id': [
    'an answer with the id in upper case',
    spoofAs(({ correlationId }) => `${correlationId.toUpperCase()} `),
  ],
  'member-id': ['an answer with the name of a member of every object', spoofAs(() => '__proto__')],
  'longest-id': ['an answer with the longest id', spoofAs(() => 'x'.repeat(255))],
  twice: [
    'a second answer to the call before',
    (request) => {
      const second = answer(request, request.correlationId, SPOOFED);
      request.socket.write(Buffer.concat([answerOwn(request), second]));
    },
  ],
  'many-ids': [
    'thousands of unrequested answers',
    before((request) => Buffer.concat(listSpoofs(request))),
  ],
  'other-consumer': [
    'an answer for another consumer',
    before(({ correlationId, nextTag }) =>
      Buffer.concat([deliver(nextTag(), 'other'), message({ correlationId }, text(SPOOFED))]),
    ),
  ],
  returned: [
    'a returned message that was not sent',
    before(() => Buffer.concat([RETURN, message({ correlationId: 'x' }, text(SPOOFED))])),
  ],
  'other-confirms': [
    'confirmations of messages that were not sent',
    before(() => Buffer.concat([ack(2 ** 52), nack(7), nack(0)])),
  ],
};

function listSpoofs(request: BrokerRequest): Buffer[] {
  return Array.from({ length: MANY }, (_, index) => answer(request, `${index}`, SPOOFED));
}

/** What cannot be an answer. The call fails, and the next one does not. */
export const LIES: Readonly<Record<string, readonly [title: string, script: BrokerScript]>> = {
  'status-blank': ['a status with a blank', withHeaders(field('modgate-status', ' 200'))],
  'status-range': ['a status of a connection', withHeaders(field('modgate-status', '101'))],
  'status-list': ['a list of statuses', withHeaders(listField('modgate-status', ['200']))],
  'status-twice': [
    'two statuses in two spellings',
    withHeaders(field('modgate-status', '200'), field('Modgate-Status', '404')),
  ],
  'line-break': [
    'a header with a line break',
    withHeaders(field('x-a', 'b\r\nset-cookie: stolen=1')),
  ],
  'nested-headers': ['tables in tables', withHeaders(nestedField(MANY))],
  'above-limit': [
    'a body above the limit',
    (request) => request.socket.write(answer(request, request.correlationId, longText())),
  ],
  'endless-body': [
    'a body without an end',
    (request) => {
      request.socket.write(announce(request, 2 ** 40));
      flood(request, frame(BODY, 1, Buffer.alloc(131_000)));
    },
  ],
  'longer-body': [
    'a body that is longer than announced',
    (request) => {
      const body = frame(BODY, 1, Buffer.alloc(1_000));
      request.socket.write(Buffer.concat([announce(request, 10), body]));
    },
  ],
  'long-frame': [
    'a frame of 4 GiB',
    ({ socket }) => socket.write(Buffer.from([METHOD, 0, 1, 255, 255, 255, 255])),
  ],
  'cut-method': [
    'a delivery without its parts',
    ({ socket }) => socket.write(frame(METHOD, 1, ids(60, 60), short('tag'))),
  ],
  'cut-text': [
    'a text that reaches past its frame',
    ({ socket }) => socket.write(frame(METHOD, 1, ids(60, 60), Buffer.of(255))),
  ],
  'not-a-method': [
    'a method that no protocol has',
    ({ socket }) => socket.write(frame(METHOD, 1, ids(6_000, 60))),
  ],
  'body-alone': [
    'a body without a message',
    ({ socket }) => socket.write(frame(BODY, 1, Buffer.alloc(1_000))),
  ],
  'other-channel': [
    'a delivery on a channel that was not opened',
    ({ socket }) => {
      const place = [Buffer.of(0), short(''), short('key')];
      socket.write(frame(METHOD, 999, ids(60, 60), short('tag'), long(1), ...place));
      socket.end();
    },
  ],
  'return-alone': [
    'a returned message without the message',
    (request) => request.socket.end(Buffer.concat([RETURN, RETURN, RETURN])),
  ],
  cancelled: [
    'the end of its consumer, many times',
    ({ socket }) => socket.end(Buffer.concat(Array<Buffer>(MANY).fill(cancel))),
  ],
  blocked: [
    'alarms without end',
    ({ socket }) => {
      const pair = Buffer.concat([blocked('\u001b[31mlow on disk\n'), UNBLOCKED]);
      socket.end(Buffer.concat(Array<Buffer>(MANY).fill(pair)));
    },
  ],
  'not-confirmed': ['a rejection', ({ socket }) => socket.write(nackAll())],
};

/** These fail at the deadline of the call. */
export const SILENCES: Readonly<Record<string, readonly [title: string, script: BrokerScript]>> = {
  beats: ['heartbeats without an answer', beat],
  'header-alone': [
    'a message whose body does not come',
    (request) => {
      request.socket.write(announce(request, 1_000));
      beat(request);
    },
  ],
};

export const BROKER_SCRIPTS: Readonly<Record<string, BrokerScript>> = {
  own: before(() => Buffer.alloc(0)),
  ...Object.fromEntries(
    Object.entries({ ...SPOOFS, ...LIES, ...SILENCES }).map(([name, [, script]]) => [name, script]),
  ),
};

function longText(): string {
  return `"${'x'.repeat(LONG_BYTES)}"`;
}

/** All messages of the channel. */
function nackAll(): Buffer {
  return frame(METHOD, 1, ids(60, 120), long(MANY), Buffer.of(1));
}

/** Sends the same frame again and again, as far as it is read. */
function flood({ socket }: BrokerRequest, bytes: Buffer): void {
  let sent = 0;
  const more = () => {
    while (!socket.destroyed && sent < FLOOD_BYTES) {
      sent += bytes.length;
      if (!socket.write(bytes)) return void socket.once('drain', more);
    }
    socket.destroy();
  };
  more();
}

/** Heartbeats until the call has certainly ended; then the connection does. */
function beat({ socket }: BrokerRequest): void {
  let beats = 0;
  const timer = setInterval(() => {
    beats += 1;
    if (socket.destroyed || beats === 10) {
      clearInterval(timer);
      socket.destroy();
    } else socket.write(HEARTBEAT);
  }, BEAT_MS);
}
