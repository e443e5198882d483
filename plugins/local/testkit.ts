import { defineSubject, startLocalReference } from '../../core/testkit/index.js';
import { localAdapter } from './local-adapter.js';

const NOT_RAW = 'a handler gets the decoded path and the parsed query';

/** A thread takes some 50 ms to start and to end. */
const THREAD_CYCLES = 50;

/** For `modgate test-plugin`. */
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
      'close.during-invoke': 'what runs in this thread cannot be ended; the host ends the wait',
      'lifetime.memory': 'Node never forgets imported code',
    },
  }),
];
