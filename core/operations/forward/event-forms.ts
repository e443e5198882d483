import type { EventForm as FormName } from '../../contract/index.js';
import { EventScanner, type UnitEnd } from '../../lib/event-scanner.js';
import { findInvalidCharacter } from '../../lib/invalid-utf8.js';
import { findInvalidJson, findInvalidLine } from '../../lib/json/json-check.js';
import { hasMember } from '../../lib/json/json-structure.js';
import { findLastByte, isEndOfValue } from '../../lib/json/value-end.js';

/** One form of stream: what the host adds to it, and which events of a provider it rejects. */
export interface EventForm {
  readonly unitEnd: UnitEnd;
  /** @param data JSON */
  write(name: string, data: string): Buffer;
  readonly heartbeat: Buffer;
  /** Completes an unfinished event of the provider. */
  readonly end: Buffer;
  /** Whether an unfinished event cannot be the start of a longer one. */
  showsEnd(event: Buffer): boolean;
  /** Made in this order, each for the events that the ones before have accepted. */
  readonly checks: readonly EventCheck[];
}

interface EventCheck {
  /** Continues `the stream of the provider`. */
  readonly problem: string;
  /**
   * @param events complete ones
   * @returns an offset in the first event that is not forwarded; -1 without one
   */
  readonly find: (events: Buffer) => number;
}

const RESERVED_PREFIX = 'modgate.';
/** Without its last character: Node searches for eight or more in another way, three times as slow here. */
const RESERVED_WORD = RESERVED_PREFIX.slice(0, -1);
const LF = 0x0a;
const OPEN_BRACE = 0x7b;
const SPACE = 0x20;

/** The last `event:` line sets the name, but readers differ, so each line counts. */
const RESERVED_EVENT = /(?:^|[\r\n])(?:\xef\xbb\xbf)*event: ?modgate\./;

function findReservedEvent(events: Buffer): number {
  const match = events.includes(RESERVED_WORD)
    ? RESERVED_EVENT.exec(events.toString('latin1'))
    : null;
  return match === null ? -1 : match.index + match[0].length;
}

/** What may be the name of a member with the prefix, whose characters may be escaped. */
const RESERVED_NAME = new RegExp(
  `[{,][ \\t\\r]*"${Array.from(RESERVED_PREFIX, writeEither).join('')}`,
  'gi',
);

function writeEither(character: string): string {
  const code = character.charCodeAt(0).toString(16);
  return `(?:[${character}]|\\\\u00${code})`;
}

/** @param lines JSON */
function findReservedMember(lines: Buffer): number {
  if (!lines.includes(RESERVED_WORD) && !lines.includes('\\u')) return -1;
  let end = 0;
  for (const { index } of lines.toString('latin1').matchAll(RESERVED_NAME)) {
    if (index < end) continue;
    const start = lines.lastIndexOf(LF, index) + 1;
    end = lines.indexOf(LF, index);
    if (hasReservedMember(lines.subarray(start, end))) return start;
  }
  return -1;
}

/** @param line JSON */
function hasReservedMember(line: Buffer): boolean {
  let start = 0;
  while (line[start] !== undefined && Number(line[start]) <= SPACE) start += 1;
  if (line[start] !== OPEN_BRACE) return false;
  return hasMember(line, RESERVED_PREFIX);
}

export const EVENT_FORMS: Readonly<Record<FormName, EventForm>> = {
  sse: {
    unitEnd: 'blank-line',
    write: (name, data) => Buffer.from(`event: ${name}\ndata: ${data}\n\n`),
    heartbeat: Buffer.from(':\n\n'),
    end: Buffer.from('\n\n'),
    showsEnd: () => false,
    checks: [
      { problem: 'has an event that is not UTF-8', find: findInvalidCharacter },
      { problem: 'has an event whose name begins with modgate.', find: findReservedEvent },
    ],
  },
  ndjson: {
    unitEnd: 'line',
    write: (name, data) => Buffer.from(`{"${name}":${data}}\n`),
    heartbeat: Buffer.from('\n'),
    end: Buffer.from('\n'),
    showsEnd: (line) =>
      findInvalidJson([line], line.length) === null && isEndOfValue(findLastByte(line)),
    checks: [
      { problem: 'has a line that is not valid UTF-8', find: findInvalidCharacter },
      { problem: 'has a line that is not valid JSON', find: findInvalidLine },
      { problem: 'has a line with a member that begins with modgate.', find: findReservedMember },
    ],
  },
};

/**
 * Checks complete events.
 * @returns those before the first invalid one, and what is wrong with that
 */
export function checkEvents({ checks, unitEnd }: EventForm, events: Buffer) {
  let valid = events;
  let problem: string | null = null;
  for (const check of checks) {
    const at = check.find(valid);
    if (at === -1) continue;
    valid = valid.subarray(0, new EventScanner(unitEnd).scan(valid.subarray(0, at)).end);
    problem = check.problem;
  }
  return { valid, problem };
}
