import { boolean, enums } from 'superstruct';
import { withDefault } from '../../contract/described.js';
import { ANY_CHANGE, defineSection } from '../section.js';
import { amount, count, filledMapping } from '../struct-members.js';

/** More calls per second than one process can handle. */
const ONE_MILLION = 1_000_000;

export const rate = defineSection({
  struct: filledMapping('rate', 'How often the module may be called; more is 429.', {
    per_second: amount(
      0,
      [0, ONE_MILLION],
      'Calls per second by all actors together; 0 is no limit.',
    ),
    burst: count(0, [0, ONE_MILLION], 'Calls at once; 0 is as many as per second.'),
    actor_per_second: amount(0, [0, ONE_MILLION], 'Calls per second by each actor; 0 is no limit.'),
    actor_burst: count(
      0,
      [0, ONE_MILLION],
      'Calls of an actor at once; 0 is as many as per second.',
    ),
    client_per_second: amount(
      0,
      [0, ONE_MILLION],
      'Calls per second from each address, with or without credentials; 0 is no limit.',
    ),
    client_burst: count(
      0,
      [0, ONE_MILLION],
      'Calls of an address at once; 0 is as many as per second.',
    ),
    shared: withDefault(boolean(), false, {
      description: 'Whether the limits hold over all hosts, which count in Redis (--redis).',
    }),
    on_loss: withDefault(enums(['share', 'open', 'closed']), 'share', {
      description:
        'While Redis does not answer: share gives each process its last known share of the limit, open does not limit, closed answers 503.',
    }),
    headers: withDefault(boolean(), false, {
      description: 'Whether every answer says what is left, in ratelimit and ratelimit-policy.',
    }),
  }),
  validate: ({ shared }, { canShareRates }) => {
    if (shared !== true || canShareRates !== false) return [];
    const message = 'rate.shared is true, but the host has no Redis';
    const hint = 'start the host with --redis redis://…, or remove rate.shared';
    return [{ rule: 'no-redis', message, hint, path: ['rate', 'shared'], at: 'value' }];
  },
  isLimit: true,
  isFreeChange: ANY_CHANGE,
});
