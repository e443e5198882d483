import { StoredCalls } from '../observability/calls/stored-calls.js';
import { openTracing } from '../observability/tracing/open-tracing.js';
import { readHostId } from '../operations/fleet/host-id.js';
import { LOG } from '../operations/injection-tokens.js';
import { readVersion } from '../version.js';
import { CONFIG, definePart } from './part.js';
import { STORAGE } from './storage.js';

/** The destinations of traces and calls. */
export const RECORDS = definePart(
  'records',
  [CONFIG, LOG, STORAGE.token],
  async (config, log, { store }) => {
    const { keepCalls: maxCalls, keepCallsHours: maxHours } = config;
    const tracing = await openTracing(process.env, readVersion(), log);
    // The heartbeat reports a folder that is not writable.
    const host = config.fleet === null ? null : await readHostId(config.state).catch(() => null);
    const archive =
      maxCalls === 0 ? null : new StoredCalls({ store: store.calls, maxCalls, maxHours, log });
    return {
      tracing,
      archive,
      /** The id of the host in its fleet; `null` without one. */
      host,
      close: async () => {
        await Promise.all([tracing?.close(), archive?.close()]);
      },
    };
  },
);
