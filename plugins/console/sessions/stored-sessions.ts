import {
  SurfaceError,
  type SurfaceRecord,
  type SurfaceRecords,
} from '../../../core/contract/index.js';
import { parseSessionRecord, type SessionRecord } from './session-record.js';

/** Each attempt fails only if another process has changed the session meanwhile. */
const MAX_ATTEMPTS = 20;

export interface StoredSession {
  readonly key: string;
  readonly record: SessionRecord;
  readonly revision: string;
}

/** The records of sessions, which several processes change. */
export class StoredSessions {
  readonly #records: SurfaceRecords;
  readonly #expiryOf: (record: SessionRecord) => number;

  /** @param expiryOf the removal of a record. Milliseconds since 1970 */
  constructor(records: SurfaceRecords, expiryOf: (record: SessionRecord) => number) {
    this.#records = records;
    this.#expiryOf = expiryOf;
  }

  async read(key: string): Promise<StoredSession | null> {
    const stored = await this.#records.get(key);
    return stored && parseStored(stored);
  }

  async list(prefix: string): Promise<readonly StoredSession[]> {
    const stored = await this.#records.list(prefix);
    return stored.flatMap((record) => parseStored(record) ?? []);
  }

  async add(key: string, record: SessionRecord): Promise<void> {
    await this.#records.set(key, record, { expiresAt: this.#expiryOf(record) });
  }

  /** @returns whether the session was still as read. */
  replace({ key, revision }: StoredSession, record: SessionRecord): Promise<boolean> {
    const options = { expiresAt: this.#expiryOf(record), only: { revision } };
    return this.#records.set(key, record, options);
  }

  /** Changes the newest version of a session. @returns `null` for a session that has ended */
  async update(
    key: string,
    change: (record: SessionRecord) => SessionRecord,
  ): Promise<SessionRecord | null> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const stored = await this.read(key);
      if (stored === null) return null;
      const record = change(stored.record);
      if (await this.replace(stored, record)) return record;
    }
    throw new SurfaceError('unavailable', 'too many requests change the session', {
      nextActions: ['try again later'],
      headers: { 'retry-after': '1' },
    });
  }

  /** @returns whether the session existed. */
  delete(key: string): Promise<boolean> {
    return this.#records.delete(key);
  }
}

function parseStored({ key, value, revision }: SurfaceRecord): StoredSession | null {
  const record = parseSessionRecord(value);
  return record && { key, record, revision };
}
