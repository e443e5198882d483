import { redactFields } from './redact.js';

/** Characters. A longer line would fill the buffer of stdout; most viewers show less. */
const MAX_LINE = 65_536;
/**
 * The length to which a field, and the message, is cut in a line that would be too long.
 * Characters.
 */
const MAX_FIELD = 1024;

type Fields = Readonly<Record<string, unknown>>;

let formattedAt = 0;
let formattedTime = '';

/**
 * One line of JSON, without its line feed. Never throws: a value that JSON cannot represent is
 * replaced.
 */
export function formatLine(
  level: string,
  bindings: Fields,
  fields: Fields,
  message: string,
): string {
  if (typeof fields === 'string' || fields instanceof Error) {
    return formatLine(level, bindings, ...readWritten(fields, message));
  }
  const line = { level, time: formatTime(), ...bindings, ...redactFields(fields), msg: message };
  const text = stringify(line);
  return text.length <= MAX_LINE ? text : stringify(shorten(line, text.length));
}

/** Plugins in JavaScript also log a message alone, or an error. */
export function readWritten(written: Fields | string, message: string): [Fields, string] {
  if (typeof written === 'string') return [{}, written];
  if (written instanceof Error) return [{ err: written }, message ?? written.message];
  return [written, message];
}

/** Keeps level, time and message, and short fields while there is space. */
function shorten(line: Fields, length: number): Fields {
  const short: Record<string, unknown> = { shortened_from: length };
  let remaining = MAX_LINE / 2;
  for (const [name, value] of Object.entries(line)) {
    const text = stringify({ [name]: value });
    if (text.length > MAX_FIELD || text.length > remaining) continue;
    remaining -= text.length;
    short[name] = value;
  }
  return { ...short, msg: String(line['msg']).slice(0, MAX_FIELD) };
}

/** Most lines of a busy host share a millisecond with the previous one. */
function formatTime(): string {
  const now = Date.now();
  if (now !== formattedAt) {
    formattedAt = now;
    formattedTime = new Date(now).toISOString();
  }
  return formattedTime;
}

function stringify(line: Fields): string {
  try {
    return JSON.stringify(line);
  } catch {
    const members = Object.entries(line).map(([name, value]) => [name, toSerializable(value)]);
    return JSON.stringify(Object.fromEntries(members));
  }
}

/** Returns the value, or a string that replaces it; for a bigint its digits. */
function toSerializable(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  try {
    JSON.stringify(value);
    return value;
  } catch {
    return '[not serializable]';
  }
}
