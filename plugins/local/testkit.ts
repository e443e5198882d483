import { defineSubject, startLocalReference } from '../../core/testkit/index.js';
import { localAdapter } from './local-adapter.js';

/** For `modgate test-plugin`. */
export const subjects = [
  defineSubject({
    adapter: localAdapter,
    start: startLocalReference,
    except: {
      'request.target': 'a handler gets the decoded path and the parsed query',
      'close.during-invoke': 'what runs in this process cannot be ended; the host ends the wait',
      'lifetime.memory': 'Node never forgets imported code',
    },
  }),
];
