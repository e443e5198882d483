import type { RawHeader } from '../../../core/selftest/raw-http.js';
import type { ReceivedRequest } from '../../support/provider.js';
import type { Attack, Verdict } from '../attack.js';
import { readHeader } from '../scene.js';

type Row = readonly [name: string, title: string, value: string];

const TRACE_ID = 'e71e'.repeat(8);
const SPAN_ID = '5ba1'.repeat(4);
const TRACEPARENT = `00-${TRACE_ID}-${SPAN_ID}-01`;
const EVIL = 'evil-value';
const MANY_MEMBERS = Array.from({ length: 33 }, (_, index) => `k${index}=${EVIL}`).join(',');

/** The traceparent is valid: the trace continues without the state. */
const INVALID_STATES: readonly Row[] = [
  ['space', 'a space before the equals sign', `a =${EVIL}`],
  ['at', 'a key that starts with @', `@a=${EVIL}`],
  ['upper', 'a key in upper case', `A=${EVIL}`],
  ['long-key', 'a key of 257 characters', `${'a'.repeat(257)}=${EVIL}`],
  ['long-value', 'a value of 300 characters', `a=${EVIL.repeat(30)}`],
  ['equals', 'an equals sign in a value', `a=b=${EVIL}`],
  ['no-value', 'a member without a value', `a,b=${EVIL}`],
  ['high', 'a value beyond ASCII', `a=\xe9${EVIL}`],
  ['members', '33 members', MANY_MEMBERS],
];

/** The state is valid: a new trace begins without the state. */
const INVALID_PARENTS: readonly Row[] = [
  ['version', 'the forbidden version', `ff-${TRACE_ID}-${SPAN_ID}-01`],
  ['upper', 'an id in upper case', TRACEPARENT.toUpperCase()],
  ['zero-trace', 'a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN_ID}-01`],
  ['zero-span', 'a span id of zeros', `00-${TRACE_ID}-${'0'.repeat(16)}-01`],
  ['longer', 'text after the flags', `${TRACEPARENT}-evil`],
  ['short', 'a short trace id', `00-${TRACE_ID.slice(1)}-${SPAN_ID}-01`],
];

export const TRACE_CASES: readonly Attack[] = [
  ...INVALID_STATES.map(([name, title, state]) =>
    dropState(`state-${name}`, `tracestate: ${title}`, TRACEPARENT, state, true),
  ),
  ...INVALID_PARENTS.map(([name, title, parent]) =>
    dropState(`parent-${name}`, `traceparent: ${title}`, parent, `a=${EVIL}`, false),
  ),
];

function dropState(
  name: string,
  title: string,
  parent: string,
  state: string,
  goesOn: boolean,
): Attack {
  const headers: RawHeader[] = [
    ['traceparent', parent],
    ['tracestate', state],
  ];
  const check = (recorded: ReceivedRequest) => checkTrace(recorded, goesOn);
  return { id: `trace-${name}`, title, send: { headers }, forwarded: check };
}

function checkTrace(recorded: ReceivedRequest, goesOn: boolean): Verdict {
  if (readHeader(recorded, 'tracestate').length > 0) return 'the state was forwarded';
  const [parent = '', ...others] = readHeader(recorded, 'traceparent');
  if (others.length > 0) return 'the provider received two traces';
  if (parent.includes(SPAN_ID)) return 'the provider received the span of the client';
  const isSame = parent.includes(TRACE_ID);
  if (goesOn) return isSame ? null : 'the trace was not continued';
  return isSame ? 'an invalid trace was continued' : null;
}
