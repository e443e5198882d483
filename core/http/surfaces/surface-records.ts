import { SurfaceError, type SurfaceRecord, type SurfaceRecords } from '../../contract/index.js';
import { parseStored } from '../../store/parse-stored.js';
import type { Store } from '../../store/store.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';
import type { StoredSurfaceRecord } from '../../store/surface-records.js';

const KEY = /^[A-Za-z0-9._:-]{1,128}$/;
const KEY_PREFIX = /^[A-Za-z0-9._:-]{0,128}$/;
const MAX_VALUE_BYTES = 65_536;
/** The last time that sorts as text. */
const MAX_TIME = Date.UTC(9999, 11, 31);

export function createSurfaceRecords(
  { surfaceRecords }: Pick<Store, 'surfaceRecords'>,
  surface: string,
): SurfaceRecords {
  return {
    get: async (key) => {
      assertKey(key);
      return translate(async () => {
        const stored = await surfaceRecords.get(surface, key);
        return stored && parseRecord(stored);
      });
    },
    set: async (key, value, { expiresAt, only }) => {
      assertKey(key);
      assertTime(expiresAt);
      const write = { surface, key, value: formatValue(value), expiresAt, only: only ?? null };
      const result = await translate(() => surfaceRecords.set(write));
      if (result === 'full') throw new SurfaceError('unavailable', 'there are too many records');
      return result === 'set';
    },
    delete: async (key) => {
      assertKey(key);
      return translate(() => surfaceRecords.delete(surface, key));
    },
    list: async (prefix = '') => {
      if (!KEY_PREFIX.test(prefix)) throw new TypeError('the prefix is not that of a key');
      return translate(async () => (await surfaceRecords.list(surface, prefix)).map(parseRecord));
    },
  };
}

function assertKey(key: string): void {
  if (!KEY.test(key)) throw new TypeError('a key has 1 to 128 of A-Z, a-z, 0-9, . _ : -');
}

function assertTime(time: number): void {
  if (Number.isFinite(time) && time >= 0 && time <= MAX_TIME) return;
  throw new TypeError('expiresAt must be a time in milliseconds since 1970');
}

function formatValue(value: unknown): string {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError('the value is not JSON');
  if (Buffer.byteLength(text) > MAX_VALUE_BYTES) {
    throw new TypeError(`the value is longer than ${MAX_VALUE_BYTES} bytes`);
  }
  return text;
}

function parseRecord({ value, ...record }: StoredSurfaceRecord): SurfaceRecord {
  return { ...record, value: parseStored(value, `the record '${record.key}'`) };
}

async function translate<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new SurfaceError('unavailable', 'the store does not answer', {
      cause: error,
      nextActions: ['try again later'],
      headers: { 'retry-after': '1' },
    });
  }
}
