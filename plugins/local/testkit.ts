import { defineSubject, startLocalReference } from '../../core/testkit/index.js';
import { localAdapter } from './local-adapter.js';

const NOT_RAW = 'a handler receives the decoded path and the parsed query';

/** A thread takes about 50 ms to start and exit. */
const THREAD_CYCLES = 50;

export const subjects = [
  defineSubject({
    adapter: localAdapter,
    start: startLocalReference,
    except: { 'request.target': NOT_RAW },
    cycles: THREAD_CYCLES,
  }),
  defineSubject({
    adapter: localAdapter,
    start: async () => {
      const { config, ...running } = await startLocalReference();
      return { ...running, config: { ...(config as object), isolation: 'none' } };
    },
    except: {
      'request.target': NOT_RAW,
      'close.during-invoke': 'code in this thread cannot be stopped; the host stops waiting',
      'lifetime.memory': 'Node keeps imported code',
    },
  }),
];
