import type { Infer } from 'superstruct';
import { filledIn, optionally } from '../../contract/described.js';
import { wholeNumber } from '../../contract/whole-number.js';
import { ANY_CHANGE, defineSection, type ReadonlyDeep } from '../section.js';
import {
  bytes,
  count,
  MANY,
  mapping,
  milliseconds,
  ONE_DAY_MS,
  ONE_HOUR_MS,
} from '../struct-members.js';

const TEN_MINUTES_MS = 600_000;
const ONE_WEEK_MS = 7 * ONE_DAY_MS;
const ONE_GIBIBYTE = 1_073_741_824;
const ONE_TEBIBYTE = 1_099_511_627_776;

const byteLimits = mapping('bytes', 'Bounds for bodies of bytes, which a manifest can lower.', {
  request: bytes(ONE_GIBIBYTE, [1, ONE_TEBIBYTE], 'Longest body of bytes of a request.'),
  response: bytes(ONE_GIBIBYTE, [1, ONE_TEBIBYTE], 'Longest body of bytes of a response.'),
});

const streamLimits = mapping('stream', 'Bounds for streams of events, and for WebSockets.', {
  head_ms: optionally(wholeNumber(1, ONE_HOUR_MS), {
    description:
      'Wait for the head of the response: some providers send it with their first event. Default: timeout_ms. Milliseconds.',
  }),
  idle_ms: milliseconds(
    60_000,
    [1, ONE_DAY_MS],
    'Longest silence of the provider; of a WebSocket: of both ends.',
  ),
  max_ms: milliseconds(3_600_000, [1, ONE_WEEK_MS], 'How long a stream may be open.'),
  per_actor: count(10, [1, MANY], 'Open streams of each actor; more is 429.'),
  total: count(1024, [1, MANY], 'Open streams of the module; more is 502.'),
  event_bytes: optionally(wholeNumber(1, ONE_GIBIBYTE), {
    description:
      'Longest event, or line of JSON; of a WebSocket: longest frame. Default: 262144; 16777216 for frames, which are not held. Bytes.',
  }),
  units_s: count(
    100_000,
    [1, 10_000_000],
    'Events, lines or frames that are read in a second, blank lines and comments included; beyond it the host reads no faster.',
  ),
  heartbeat_ms: milliseconds(
    15_000,
    [1, ONE_HOUR_MS],
    'Silence after which the client gets a comment, or an empty line.',
  ),
});

const members = mapping('limits', 'Bounds for the calls of this module.', {
  timeout_ms: milliseconds(5000, [1, TEN_MINUTES_MS], 'Time for a whole call, retries included.'),
  request_bytes: bytes(1_048_576, [1, ONE_GIBIBYTE], 'Longest body of a request.'),
  response_bytes: bytes(
    4_194_304,
    [1, ONE_GIBIBYTE],
    'Longest body of a response of the provider.',
  ),
  hold_bytes: optionally(wholeNumber(1, ONE_GIBIBYTE), {
    description:
      'A longer response is streamed while it is checked. Default: response_bytes, or 262144 where that is above 4194304. Bytes.',
  }),
  hold_request_bytes: optionally(wholeNumber(1, ONE_GIBIBYTE), {
    description:
      'A longer body of a request is streamed to the provider while it is checked. Default: request_bytes. Bytes.',
  }),
  concurrency: count(256, [1, MANY], 'Calls at the same time.'),
  queue: count(32, [0, MANY], 'Calls that may wait until another one ends.'),
  queue_ms: milliseconds(250, [0, TEN_MINUTES_MS], 'How long a call may wait in the queue.'),
  bytes: filledIn(byteLimits),
  stream: filledIn(streamLimits),
  body_idle_ms: milliseconds(
    30_000,
    [1, TEN_MINUTES_MS],
    'Longest pause of a body that is streamed, of the provider and of the client; and how long bytes of a WebSocket wait for an end that takes none.',
  ),
  body_min_bytes_s: count(
    1024,
    [0, ONE_GIBIBYTE],
    'How much of a body that is streamed has to pass in a second, on average over body_idle_ms; 0 is no limit. Bytes.',
  ),
});

type WireLimits = Infer<typeof members>;

export interface Limits
  extends Omit<ReadonlyDeep<WireLimits>, 'hold_bytes' | 'hold_request_bytes'> {
  readonly hold_bytes: number;
  readonly hold_request_bytes: number;
}

/** Longer responses are streamed by default. Bytes. */
const HELD_RESPONSE_BYTES = 4_194_304;
const DEFAULT_HOLD_BYTES = 262_144;

export const limits = defineSection({
  struct: filledIn(members),
  complete: (wire): Limits => {
    const { hold_bytes, hold_request_bytes, ...others } = wire;
    const { response_bytes, request_bytes } = others;
    const isLong = response_bytes > HELD_RESPONSE_BYTES;
    return {
      hold_bytes: hold_bytes ?? (isLong ? DEFAULT_HOLD_BYTES : response_bytes),
      hold_request_bytes: hold_request_bytes ?? request_bytes,
      ...others,
    };
  },
  isLimit: true,
  isFreeChange: ANY_CHANGE,
});
