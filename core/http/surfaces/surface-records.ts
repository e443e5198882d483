import { SurfaceError, type SurfaceRecords } from '../../contract/index.js';
import {
  assertRecordKey,
  assertRecordPrefix,
  assertRecordTime,
  formatRecordValue,
} from '../../lib/surface-rules.js';
import type { Store } from '../../store/store.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';

export function createSurfaceRecords(
  { surfaceRecords }: Pick<Store, 'surfaceRecords'>,
  surface: string,
): SurfaceRecords {
  return {
    get: async (key) => {
      assertRecordKey(key);
      return translate(() => surfaceRecords.get(surface, key));
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
      return translate(() => surfaceRecords.list(surface, prefix));
    },
  };
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
