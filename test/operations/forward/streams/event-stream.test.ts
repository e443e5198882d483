import { expect } from 'chai';
import fc from 'fast-check';
import { BodyPieces } from '../../../../core/contract/body-pieces.js';
import type { BodySink } from '../../../../core/contract/index.js';
import { EventStream } from '../../../../core/operations/forward/event-stream.js';
import type { ResponseStream } from '../../../../core/provider/response-stream.js';

const LIMITS = {
  ...{ idle_ms: 60_000, max_ms: 60_000, per_actor: 1, total: 1, heartbeat_ms: 60_000 },
  units_s: 10_000_000,
};

/** The first and the last event of the host. */
const OWN_EVENTS = {
  sse: ['event: modgate.open\ndata: {}\n\n', 'event: modgate.end\ndata: {"reason":"complete"}\n\n'],
  ndjson: ['{"modgate.open":{}}\n', '{"modgate.end":{"reason":"complete"}}\n'],
} as const;

/** No test has this byte. */
const OVERWRITTEN = 0xfe;

interface Result {
  readonly text: string;
  readonly problem: string | null;
}

/** Passes on these parts, each of them once the reader wants it, and overwrites those it gets back. */
class PartSource {
  readonly #left: Uint8Array[];
  /** The parts that came back. */
  reused = 0;
  #sink: BodySink | null = null;
  #isOver = false;

  constructor(parts: readonly Uint8Array[]) {
    this.#left = parts.map((part) => Buffer.from(part));
  }

  pipe(sink: BodySink): void {
    this.#sink = sink;
    this.resume();
  }

  resume(): void {
    while (!this.#isOver) {
      const part = this.#left.shift();
      if (part === undefined) {
        this.#isOver = true;
        this.#sink?.end();
      } else if (this.#sink?.write(part) !== true) return;
    }
  }

  reuse(part: Uint8Array): void {
    this.reused += 1;
    part.fill(OVERWRITTEN);
  }

  close(): void {
    this.#isOver = true;
  }
}

/** What a client gets of a stream that arrives in these parts. */
async function read(
  form: 'sse' | 'ndjson',
  parts: readonly Uint8Array[],
  { maxBytes = 1000, isRaw = false, source = new PartSource(parts) } = {},
): Promise<Result> {
  const stream = new EventStream({
    source: source as unknown as ResponseStream,
    pieces: [],
    isDelimited: true,
    form,
    opening: isRaw ? null : '{}',
    limits: { ...LIMITS, event_bytes: maxBytes },
    toError: (failure) => failure,
    onEnd: () => {},
    onSettled: () => {},
  });
  const pieces = new BodyPieces();
  const problem = await new Promise<string | null>((resolve) => {
    stream.pipe({
      write: (part) => {
        // As a socket does, it reads the bytes later.
        setImmediate(() => {
          pieces.add(Buffer.from(part));
          stream.reuse(part);
          stream.resume();
        });
        return false;
      },
      end: () => resolve(null),
      fail: (error) => {
        resolve((error as Error).message.replace('the stream of the provider ', ''));
      },
    });
  });
  const text = pieces.join().toString('latin1');
  const [first, last] = OWN_EVENTS[form];
  const start = text.startsWith(first) ? first.length : 0;
  const end = text.endsWith(last) ? -last.length : undefined;
  return { text: text.slice(start, end), problem };
}

/** Splits a whole stream, and checks one event after the other. */
function expectSse(stream: Buffer, maxBytes: number): Result {
  const text = stream.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  const lines = text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
  let passed = '';
  let event = '';
  for (const [index, line] of lines.entries()) {
    event += line;
    const isLast = index === lines.length - 1;
    const isEnd = /^(?:\r\n|\r|\n)$/.test(line);
    if (!isEnd && !isLast) continue;
    // The last half of the end may arrive later.
    if ((isEnd ? event.replace(/\r\n$/, '\r') : event).length > maxBytes) {
      return { text: passed, problem: `has an event of more than ${maxBytes} bytes` };
    }
    const problem = isUtf8(event)
      ? /(?:^|[\r\n])(?:\xef\xbb\xbf)*event: ?modgate\./.test(event)
        ? 'has an event whose name begins with modgate.'
        : null
      : 'has an event that is not UTF-8';
    if (problem !== null) return { text: passed, problem };
    passed += isEnd ? event : `${event}\n\n`;
    event = '';
  }
  return { text: passed, problem: null };
}

function expectLines(stream: Buffer, maxBytes: number): Result {
  const text = stream.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  let passed = '';
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    if (line.length > maxBytes) {
      return { text: passed, problem: `has an event of more than ${maxBytes} bytes` };
    }
    const problem = findProblemOfLine(line);
    if (problem !== null) return { text: passed, problem: `has a line ${problem}` };
    passed += line.endsWith('\n') ? line : `${line}\n`;
  }
  return { text: passed, problem: null };
}

function findProblemOfLine(line: string): string | null {
  if (/^[ \t\r\n]*$/.test(line)) return null;
  if (!isUtf8(line)) return 'that is not valid UTF-8';
  try {
    const value: unknown = JSON.parse(Buffer.from(line, 'latin1').toString());
    const names = value instanceof Object && !Array.isArray(value) ? Object.keys(value) : [];
    const isReserved = names.some((name) => name.startsWith('modgate.'));
    return isReserved ? 'with a member that begins with modgate.' : null;
  } catch {
    return 'that is not valid JSON';
  }
}

function isUtf8(latin1: string): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(latin1, 'latin1'));
    return true;
  } catch {
    return false;
  }
}

/** Cuts the bytes anywhere, empty parts included. */
function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...cuts.map((at) => at % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const UTF8 = Buffer.from('ü€😀').toString('latin1');
const ENDS = ['\n', '\r', '\r\n', '\n\n', '\r\n\r\n', '\r\r'];
const EVENTS = [
  ...['data: 1', ': comment', ':', 'event: modgate.end', 'event:modgate.x', 'event: other', 'id'],
  ...['data: modgate.end', 'event:  modgate.x', UTF8, '\xef\xbb\xbf', '\xef', '\xff', '\xe2\x82'],
  ...ENDS,
  ...ENDS,
];
const LINES = [
  ...['{}', '[1]', 'null', '1', '"modgate."', '{"modgate.x":1}', '{"modgat":1}', '{', '1,2', '\r'],
  ...['{"a":{"modgate.x":1}}', String.raw`{"\u006Dodgate.x":1}`, String.raw`["\u006dodgate."]`],
  ...['{"a":1,"modgat\\u0065\\u002e":2}', `"${UTF8}"`, '\xef\xbb\xbf', '"\xff"', ' \t', '\0', '[1'],
  ...['\n', '\n', '\n', '\n', '\n\n', '\r\n', '2]', '{"long":"1234567890"}', '-', 'tru', '"\\'],
];

describe('EventStream', () => {
  const cuts = fc.array(fc.nat(), { maxLength: 8 });
  for (const [form, pieces, expected] of [
    ['sse', EVENTS, expectSse],
    ['ndjson', LINES, expectLines],
  ] as const) {
    const streams = fc
      .array(fc.constantFrom(...pieces), { maxLength: 16 })
      .map((parts) => latin1(parts.join('')));

    it(`passes the same bytes of ${form} in any parts, and ends at the same event`, async () => {
      await fc.assert(
        fc.asyncProperty(streams, cuts, fc.constantFrom(3, 20, 1000), async (bytes, at, max) => {
          const result = await read(form, cut(bytes, at), { maxBytes: max });
          expect(result).to.deep.equal(expected(bytes, max));
        }),
        { numRuns: 3000 },
      );
    });

    it(`passes ${form} byte by byte as at once`, async () => {
      await fc.assert(
        fc.asyncProperty(streams, async (bytes) => {
          const single = Array.from(bytes, (byte) => Buffer.of(byte));
          const whole = await read(form, [bytes]);
          expect(await read(form, single)).to.deep.equal(whole);
        }),
        { numRuns: 500 },
      );
    });
  }

  it('passes more events than one turn has, in order', async () => {
    const events = Array.from({ length: 9000 }, (_, index) => `data: ${index}\n\n`).join('');
    for (const isRaw of [false, true]) {
      const { text, problem } = await read('sse', [latin1(events)], { isRaw });
      expect(text).to.equal(events);
      expect(problem).to.equal(null);
    }
  });

  it('gives long parts back once their bytes are sent, however they are cut', async () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `{"a":${index}}\n`).join('');
    const isLong = ({ length }: Buffer) => length >= 16_384;
    await fc.assert(
      fc.asyncProperty(cuts, fc.boolean(), async (at, isRaw) => {
        const parts = cut(latin1(text), at);
        const source = new PartSource(parts);
        expect(await read('ndjson', [], { isRaw, source })).to.deep.equal({ text, problem: null });
        expect(source.reused).to.equal(parts.filter(isLong).length);
      }),
      { numRuns: 50 },
    );
  });

  it('rejects an invalid event after those of earlier turns', async () => {
    const lines = `${'{}\n'.repeat(5000)}{\n`;
    const { text, problem } = await read('ndjson', [latin1(lines)]);
    expect(text).to.equal('{}\n'.repeat(5000));
    expect(problem).to.equal('has a line that is not valid JSON');
  });
});
