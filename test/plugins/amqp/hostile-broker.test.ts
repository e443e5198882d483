import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { amqpAdapter } from '../../../plugins/amqp/amqp-adapter.js';
import {
  ack,
  BODY,
  blocked,
  cancel,
  deliver,
  frame,
  GREETING,
  HEARTBEAT,
  header,
  ids,
  METHOD,
  message,
  nack,
  nestedField,
  OPEN_OK,
  RETURN,
  START,
  short,
  tune,
  UNBLOCKED,
} from '../../support/amqp/broker-frames.js';
import { failureOf } from '../../support/failure-of.js';
import { sideBySide } from '../../support/side-by-side.js';
import { createInvocation, eventually, type OpenedProvider, openAdapter } from '../open-adapter.js';

const MIB = 1_048_576;

type Attack = (socket: Socket) => void;

/** A broker that greets with these answers, and then does what `attack` does. */
type Open = (greeting: readonly Buffer[], attack?: Attack) => Promise<OpenedProvider>;

/** These tests wait for seconds. The others need the event loop, or measure memory, and run alone. */
const WAITS = /^(?:gives up|waits longer|sends heartbeats|keeps the connection)/;

const { describe: describeSideBySide, it: itSideBySide } = sideBySide(
  (title) => !WAITS.test(title),
);

/** A test that closes what it opens: an open adapter reconnects, also during the next tests. */
const test = (title: string, body: (open: Open) => Promise<void>) =>
  itSideBySide(title, async () => {
    const closing: (() => Promise<void>)[] = [];
    const open: Open = async (greeting, attack = () => {}) => {
      const { port, stop } = await startBroker(greeting, attack);
      closing.push(stop);
      const config = { url: `amqp://127.0.0.1:${port}`, queue: 'q' };
      const running = await openAdapter(amqpAdapter, config);
      closing.push(running.close);
      return running;
    };
    try {
      await body(open);
    } finally {
      for (const close of closing) await close();
    }
  });

async function startBroker(greeting: readonly Buffer[], attack: Attack) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    let step = 0;
    socket.on('data', (bytes: Buffer) => {
      // Some requests arrive together.
      const methods = step === 0 ? 1 : countMethods(bytes);
      for (let count = 0; count < methods; count += 1) {
        const answer = greeting[step];
        step += 1;
        if (answer !== undefined) socket.write(answer);
        if (step === greeting.length) attack(socket);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port, stop };
}

describeSideBySide('amqp adapter with a hostile broker', () => {
  const reasonOf = async (running: OpenedProvider) =>
    (await failureOf(running.provider.invoke(createInvocation()))).message;

  test('gives up a handshake without an answer after 4 s', async (open) => {
    expect(await reasonOf(await open([]))).to.contain('no answer within 4000 ms');
  });

  const GREETINGS: readonly [title: string, greeting: readonly Buffer[], reason: RegExp][] = [
    ['that speaks HTTP', [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')], /violates|too long/],
    [
      'that announces a frame of 4 GiB',
      [Buffer.from([1, 0, 0, 255, 255, 255, 255])],
      /too long|violates/,
    ],
    ['that negotiates frames of 9 bytes', [START, tune(9), OPEN_OK], /tiny frames/],
    [
      'that closes at once with a text in colors',
      [
        frame(
          METHOD,
          0,
          ids(10, 50),
          Buffer.from([1, 0x93]),
          short('\u001b[31mno\n'),
          Buffer.alloc(4),
        ),
      ],
      /no connection: \\u001b\[31mno\\u000a/,
    ],
  ];
  for (const [title, greeting, reason] of GREETINGS) {
    test(`does not connect to a broker ${title}`, async (open) => {
      expect(await reasonOf(await open(greeting))).to.match(reason);
    });
  }

  const ATTACKS: readonly [title: string, bytes: Buffer][] = [
    [
      'a frame without its end',
      Buffer.concat([frame(METHOD, 1, ids(60, 60)).subarray(0, -1), Buffer.of(0)]),
    ],
    ['a delivery without its parts', frame(METHOD, 1, ids(60, 60), short('tag'))],
    ['a text that reaches past its frame', frame(METHOD, 1, ids(60, 60), Buffer.of(255))],
    [
      'a body that is longer than announced',
      Buffer.concat([
        deliver(1),
        header(MIB),
        frame(BODY, 1, Buffer.alloc(100_000)),
        ...Array.from({ length: 10 }, () => frame(BODY, 1, Buffer.alloc(100_000))),
      ]),
    ],
    ['a body that is longer than any message', Buffer.concat([deliver(1), header(10 ** 12)])],
    [
      'tables in tables',
      Buffer.concat([deliver(1), message({ headers: [nestedField(10_000)] }, Buffer.alloc(0))]),
    ],
  ];
  for (const [title, bytes] of ATTACKS) {
    test(`ends the connection at ${title}`, async (open) => {
      const running = await open(GREETING, (socket) => socket.write(bytes));
      await eventually(() =>
        running.log.some(({ message }) => message === 'no connection to RabbitMQ'),
      );
      const { fields } = running.entries.find(({ level }) => level === 'warn') ?? {};
      expect(fields?.['reason']).to.match(/violates AMQP/);
    });
  }

  test('does not hold a message that no call may have', async (open) => {
    let sent = 0;
    const running = await open(GREETING, (socket) => {
      socket.write(Buffer.concat([deliver(1), header(500 * MIB)]));
      const body = frame(BODY, 1, Buffer.alloc(131_000));
      const more = () => {
        while (sent < 200 * MIB) {
          sent += body.length;
          if (!socket.write(body)) return void socket.once('drain', more);
        }
      };
      more();
    });
    const before = process.memoryUsage().arrayBuffers;
    await eventually(() => sent >= 200 * MIB);
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(60 * MIB);
    expect(running.log.map(({ message }) => message)).to.deep.equal(['connected to RabbitMQ']);
  });

  test('holds at most 16 MiB that the broker does not read', async (open) => {
    const running = await open(GREETING, (socket) => socket.pause());
    await eventually(() => running.log.length > 0);
    const before = process.memoryUsage().arrayBuffers;
    const body = Buffer.alloc(MIB);
    const call = () => {
      const others = { signal: AbortSignal.timeout(5_000) };
      return failureOf(running.provider.invoke(createInvocation({ method: 'POST', body }, others)));
    };
    const calls = await Promise.all(Array.from({ length: 60 }, call));
    const unread = calls.filter(({ message }) => message.includes('does not read'));
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(20 * MIB);
    // The buffers of the system hold some.
    expect(unread.length).to.be.within(20, 44);
    expect(new Set(unread.map(({ phase }) => phase))).to.deep.equal(new Set(['connecting']));
  });

  test('ends the connection of a broker that never confirms', async (open) => {
    const running = await open(GREETING);
    await eventually(() => running.log.length > 0);
    const calls = Array.from({ length: 10_000 }, () => {
      const controller = new AbortController();
      const others = { signal: controller.signal };
      const call = running.provider.invoke(createInvocation({}, others)).catch(() => {});
      return { call, controller };
    });
    await new Promise(setImmediate);
    for (const { controller } of calls) controller.abort();
    await Promise.all(calls.map(({ call }) => call));
    expect(await reasonOf(running)).to.contain('the broker confirms no messages');
  });

  test('ends the connection at many long deliveries for no consumer', async (open) => {
    const body = Buffer.alloc(100_000);
    const answer = (tag: number) => Buffer.concat([deliver(tag, 'other'), message({}, body)]);
    const running = await open(GREETING, (socket) => {
      for (let tag = 1; tag <= 1_001; tag += 1) socket.write(answer(tag));
    });
    // A busy machine may be late with the handshake of the first connections.
    await eventually(() =>
      running.entries.some(({ fields }) => /violates AMQP/.test(String(fields['reason']))),
    );
  });

  test('ignores confirmations and returns of messages that it has not sent', async (open) => {
    const returned = Buffer.concat([RETURN, header(0)]);
    const confirms = [ack(2 ** 52), nack(7)];
    const bytes = Buffer.concat([...confirms, returned, deliver(1), header(0)]);
    const running = await open(GREETING, (socket) => socket.write(bytes));
    await eventually(() => running.counted('late_answers_total') === 1);
    expect(running.log.map(({ message }) => message)).to.deep.equal(['connected to RabbitMQ']);
  });

  describe('that agrees on heartbeats of 1 s', () => {
    const AGREED = GREETING.with(1, tune(131_072, 1));

    const isLost = (running: OpenedProvider) =>
      running.entries.some(({ fields }) => fields['reason'] === 'no heartbeat of the broker');

    test('sends heartbeats, and loses the connection after 2 s of silence', async (open) => {
      const start = performance.now();
      let beats = 0;
      const running = await open(AGREED, (socket) => {
        socket.on('data', (bytes) => {
          beats += countHeartbeats(bytes);
        });
      });
      await eventually(() => isLost(running));
      expect(beats).to.be.at.least(1);
      expect(performance.now() - start).to.be.at.least(1_900);
    });

    test('keeps the connection while the broker sends them', async (open) => {
      let sent = 0;
      const running = await open(AGREED, (socket) => {
        const timer = setInterval(() => {
          sent += 1;
          socket.write(HEARTBEAT);
        }, 500);
        socket.once('close', () => clearInterval(timer));
      });
      await eventually(() => sent >= 6);
      expect(isLost(running)).to.equal(false);
    });

    test('reads what arrived while the event loop was busy before it decides', async (open) => {
      let broker: Socket | undefined;
      const running = await open(AGREED, (socket) => {
        broker = socket;
      });
      await eventually(() => broker !== undefined);
      await eventually(() => running.log.length > 0);
      broker?.write(HEARTBEAT);
      // Blocks the event loop like a loop, without CPU time.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
      broker?.write(HEARTBEAT);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(isLost(running)).to.equal(false);
    });
  });

  test('logs at most 20 lines about an alarm that comes and goes', async (open) => {
    const pair = Buffer.concat([blocked('\u001b[31mdisk\n'), UNBLOCKED]);
    const running = await open(GREETING, (socket) =>
      socket.end(Buffer.concat(Array<Buffer>(10_000).fill(pair))),
    );
    const isLost = () =>
      running.log.some(({ message: text }) => text === 'no connection to RabbitMQ');
    await eventually(isLost);
    const alarms = running.entries.filter(({ message: text }) => /accepts? messages/.test(text));
    expect(alarms).to.have.length(20);
    expect(alarms[0]?.fields['reason']).to.equal('\\u001b[31mdisk\\u000a');
  });

  test('waits longer and longer for a broker that drops each connection', async (open) => {
    const connectedAt: number[] = [];
    await open(GREETING, (socket) => {
      connectedAt.push(performance.now());
      socket.end();
    });
    await eventually(() => connectedAt.length === 6);
    // After 100 ms, 200 ms, and so on, with jitter.
    const [before = 0, last = 0] = connectedAt.slice(-2);
    expect(last - before).to.be.above(1_000);
  });

  test('survives an answer before its consumer is there', async (open) => {
    const early = Buffer.concat([deliver(1), message({ correlationId: 'a' }, Buffer.from('1'))]);
    const greeting = GREETING.with(-1, Buffer.concat([early, GREETING.at(-1) as Buffer]));
    const running = await open(greeting);
    await eventually(() => running.log.length > 0);
    expect(running.log[0]?.message).to.equal('connected to RabbitMQ');
  });

  test('opens the channel again when the consumer of answers is cancelled', async (open) => {
    const running = await open(GREETING, (socket) => socket.write(cancel));
    await eventually(() => running.log.some(({ message }) => message === 'AMQP channel lost'));
    const { fields } = running.entries.find(({ level }) => level === 'warn') ?? {};
    expect(fields?.['reason']).to.equal('the consumer of answers was cancelled');
  });
});

/** Frames that need an answer: all methods but tune-ok, which comes with open. */
function countMethods(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at + 11 <= bytes.length; at += bytes.readUInt32BE(at + 3) + 8) {
    const isTuneOk = bytes.readUInt16BE(at + 7) === 10 && bytes.readUInt16BE(at + 9) === 31;
    if (bytes[at] === METHOD && !isTuneOk) count += 1;
  }
  return count;
}

function countHeartbeats(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at + 8 <= bytes.length; at += bytes.readUInt32BE(at + 3) + 8) {
    if (bytes[at] === 8) count += 1;
  }
  return count;
}
