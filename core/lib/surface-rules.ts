const RECORD_KEY = /^[A-Za-z0-9._:-]{1,128}$/;
const RECORD_KEY_PREFIX = /^[A-Za-z0-9._:-]{0,128}$/;
const MAX_VALUE_BYTES = 65_536;
/** The last time that sorts as text. */
const MAX_TIME = Date.UTC(9999, 11, 31);

/** Headers that the host sets: the caller is known, and the connection has one request. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** @throws TypeError for a response that a surface must not return. */
export function assertResponse(response: unknown): Response {
  if (!(response instanceof Response) || response.status < 200) {
    throw new TypeError("'fetch' must return a Response");
  }
  if (response.bodyUsed || response.body?.locked) throw new TypeError('the body was read already');
  return response;
}

/** @throws TypeError for a request that a surface must not send. */
export function assertSendable(method: string, headers: Readonly<Record<string, string>>): void {
  if (method.toUpperCase() === 'CONNECT') throw new TypeError('a surface cannot send CONNECT');
  for (const name of Object.keys(headers)) {
    const isOwn = OWN_HEADERS.has(name.toLowerCase()) || /^proxy-/i.test(name);
    if (isOwn)
      throw new TypeError(`a surface cannot set the header '${name}': the host decides it`);
  }
}

/** @throws TypeError for the key of a record. */
export function assertRecordKey(key: string): void {
  if (!RECORD_KEY.test(key)) throw new TypeError('a key has 1 to 128 of A-Z, a-z, 0-9, . _ : -');
}

/** @throws TypeError for the prefix of keys. */
export function assertRecordPrefix(prefix: string): void {
  if (!RECORD_KEY_PREFIX.test(prefix)) throw new TypeError('the prefix is not that of a key');
}

/** @throws TypeError for the expiry of a record. */
export function assertRecordTime(time: number): void {
  if (Number.isFinite(time) && time >= 0 && time <= MAX_TIME) return;
  throw new TypeError('expiresAt must be a time in milliseconds since 1970');
}

/** @throws TypeError for the value of a record. */
export function formatRecordValue(value: unknown): string {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError('the value is not JSON');
  if (Buffer.byteLength(text) > MAX_VALUE_BYTES) {
    throw new TypeError(`the value is longer than ${MAX_VALUE_BYTES} bytes`);
  }
  return text;
}
