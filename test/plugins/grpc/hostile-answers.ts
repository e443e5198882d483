import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { gzipSync } from 'node:zlib';

export const HEAD = { ':status': 200, 'content-type': 'application/grpc' };
export const OK = { 'grpc-status': '0' };

/** 80 KB. */
const LARGE = Object.fromEntries(
  Array.from({ length: 8 }, (_, n) => [`x-${n}`, 'x'.repeat(10_000)]),
);

/** A message with an_int32 of 7. */
export const SEVEN = frame(Buffer.from([0x18, 7]));
/** Fifty megabytes of zeros. */
export const INFLATES = gzipSync(Buffer.alloc(50_000_000));

export function frame(message: Buffer, flag = 0, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

/** The tag and the length of a field. */
function lengthDelimited(field: number, length: number): Buffer {
  const bytes = [(field << 3) | 2];
  let rest = length;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

export type Behave = (stream: ServerHttp2Stream, session: ServerHttp2Session) => void;

/** Answers with one message, or with what is given for it. */
export const answer = (
  stream: ServerHttp2Stream,
  body: Buffer,
  trailers: object = OK,
  head: object = HEAD,
) => {
  stream.respond(head as never, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers as never));
  stream.end(body);
};

/** What hostile servers do with a call, and what it then fails as. */
export const FAILURES: Readonly<Record<string, readonly [behave: Behave, failure: string]>> = {
  'a length beyond the limit': [
    (stream) => {
      stream.respond(HEAD);
      stream.write(frame(Buffer.alloc(10), 0, 0xffffffff));
    },
    'protocol',
  ],
  'an unknown flag': [(stream) => answer(stream, frame(Buffer.alloc(1), 2)), 'protocol'],
  'bytes that are no message': [(stream) => answer(stream, frame(Buffer.from([0xff]))), 'protocol'],
  'a message that ends early': [
    (stream) => answer(stream, frame(Buffer.alloc(3), 0, 9)),
    'protocol',
  ],
  'no message': [(stream) => answer(stream, Buffer.alloc(0)), 'protocol'],
  'two messages': [(stream) => answer(stream, Buffer.concat([SEVEN, SEVEN])), 'protocol'],
  'an endless row of messages': [
    (stream) => {
      stream.respond(HEAD);
      const write = () => {
        while (!stream.destroyed && stream.write(SEVEN));
      };
      stream.on('drain', write);
      write();
    },
    'protocol',
  ],
  'messages that inflate without end': [
    (stream) =>
      answer(stream, frame(INFLATES, 1), OK, {
        ...HEAD,
        'grpc-encoding': 'gzip',
      }),
    'protocol',
  ],
  'an encoding that was not offered': [
    (stream) => answer(stream, frame(Buffer.alloc(1), 1), OK, { ...HEAD, 'grpc-encoding': 'br' }),
    'protocol',
  ],
  'millions of values': [
    (stream) => {
      // Packed zeros of the field longs, one byte each.
      const zeros = Buffer.alloc(3_000_000);
      answer(stream, frame(Buffer.concat([lengthDelimited(14, zeros.length), zeros])));
    },
    'protocol',
  ],
  'messages in messages without end': [
    (stream) => {
      let message = Buffer.alloc(0);
      for (let n = 0; n < 2_000; n += 1) {
        message = Buffer.concat([lengthDelimited(13, message.length), message]);
      }
      answer(stream, frame(message));
    },
    'protocol',
  ],
  'a status before its end': [
    (stream) => {
      stream.respond({ ...HEAD, ...OK });
      stream.write(SEVEN);
      stream.close(8);
    },
    'protocol',
  ],
  'no status': [(stream) => answer(stream, SEVEN, {}), 'protocol'],
  'a status that is no number': [
    (stream) => answer(stream, SEVEN, { 'grpc-status': 'ok' }),
    'protocol',
  ],
  'another content type': [
    (stream) => answer(stream, SEVEN, OK, { ':status': 200, 'content-type': 'text/html' }),
    'protocol',
  ],
  'a status of HTTP alone': [
    (stream) => answer(stream, Buffer.from('no'), {}, { ':status': 404 }),
    'status',
  ],
  'a proxy without a server': [
    (stream) => answer(stream, Buffer.from('no'), {}, { ':status': 503 }),
    'unavailable',
  ],
  'trailers that are too large': [
    (stream) => answer(stream, SEVEN, { ...OK, ...LARGE }),
    'protocol',
  ],
  // The library of HTTP/2 gives the connection up without an event.
  'a value in trailers that no client reads': [
    (stream) => answer(stream, SEVEN, { ...OK, 'x-value': '~'.repeat(70_000) }),
    'timeout',
  ],
  'headers that are too large': [
    (stream) => answer(stream, SEVEN, OK, { ...HEAD, ...LARGE }),
    'protocol',
  ],
  'an Any of an unknown type': [
    (stream) => {
      const url = Buffer.from('example.com/no.Such');
      const any = Buffer.concat([lengthDelimited(1, url.length), url]);
      const tag = Buffer.from([0xda, 1, any.length]);
      answer(stream, frame(Buffer.concat([tag, any])));
    },
    'protocol',
  ],
  'a refused stream': [(stream) => stream.close(7), 'unavailable'],
  'a reset without a head': [(stream) => stream.close(2), 'unavailable'],
  'a lost connection': [(_stream, session) => session.destroy(), 'unavailable'],
  'nothing at all': [() => {}, 'timeout'],
  'a head and then nothing': [(stream) => stream.respond(HEAD), 'timeout'],
};
