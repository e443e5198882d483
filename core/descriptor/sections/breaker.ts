import { readMember } from '../../lib/read-member.js';
import { ANY_CHANGE, defineSection } from '../section.js';
import { amount, count, filledMapping, milliseconds, ONE_HOUR_MS } from '../struct-members.js';

export const breaker = defineSection({
  struct: filledMapping('breaker', 'The circuit breakers of each endpoint and of its routes.', {
    failures: count(5, [1, 1000], 'Failures within the window that open a circuit breaker.'),
    ratio: amount(
      0.5,
      [0, 1],
      'Share of the calls within the window that must have failed, 0 to 1.',
    ),
    window_ms: milliseconds(10_000, [1, ONE_HOUR_MS], 'Length of the window.'),
    open_ms: milliseconds(10_000, [1, ONE_HOUR_MS], 'How long it stays open at first.'),
    max_open_ms: milliseconds(60_000, [1, ONE_HOUR_MS], 'How long it stays open at most.'),
  }),
  // Either time is missing if the struct has rejected it.
  validate: ({ open_ms, max_open_ms }, { written }) => {
    if (open_ms === undefined || max_open_ms === undefined || open_ms <= max_open_ms) return [];
    const isDefault = readMember(readMember(written, 'breaker'), 'max_open_ms') === undefined;
    const path = ['breaker', isDefault ? 'open_ms' : 'max_open_ms'];
    const message = "'breaker.max_open_ms' must not be less than 'breaker.open_ms'";
    const hint = isDefault ? `it is ${max_open_ms} by default` : null;
    return [{ rule: 'min-above-max', message, hint, path, at: 'value' }];
  },
  isLimit: true,
  isFreeChange: ANY_CHANGE,
});
