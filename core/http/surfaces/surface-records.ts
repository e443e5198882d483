import { SurfaceError, type SurfaceRecord, type SurfaceRecords } from '../../contract/index.js';
import {
  assertRecordKey,
  assertRecordPrefix,
  assertRecordTime,
  formatRecordValue,
} from '../../lib/surface-rules.js';
import { parseStored } from '../../store/parse-stored.js';
import type { Store } from '../../store/store.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';
import type { StoredSurfaceRecord } from '../../store/surface-records.js';

export function createSurfaceRecords(
  { surfaceRecords }: Pick<Store, 'surfaceRecords'>,
  surface: string,
): SurfaceRecords {
  return {
    get: async (key) => {
      assertRecordKey(key);
      return translate(async () => {
        const stored = await surfaceRecords.get(surface, key);
        return stored && parseRecord(stored);
      });
    },
    set: async (key, value, { expiresAt, only }) => {
      assertRecordKey(key);
      assertRecordTime(expiresAt);
      const text = formatRecordValue(value);
      const write = { surface, key, value: text, expiresAt, only: only ?? null };
      const result = await translate(() => surfaceRecords.set(write));
      if (result === 'full') throw new SurfaceError('unavailable', 'there are too many records');
      return result === 'set';
    },
    delete: async (key) => {
      assertRecordKey(key);
      return translate(() => surfaceRecords.delete(surface, key));
    },
    list: async (prefix = '') => {
      assertRecordPrefix(prefix);
      return translate(async () => (await surfaceRecords.list(surface, prefix)).map(parseRecord));
    },
  };
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
